import { hash } from "node:crypto";
import type { PromptTask } from "@nova/engine";
import { conditionLabel, type Ingredients, type PromptExecutor, sorted, type Workflow } from "@nova/workflow";
import { baseTemplate, type Generator } from "./generator.ts";
import { type ContextRead, currentTypes, type ReadTypes, typesOf } from "./reads.ts";

/** A node's definition. `input` is absent if only definitions are compared. */
export type TaskDefinition = Pick<PromptTask, "node" | "edges"> & {
  version: { workflow: Workflow };
  input?: PromptTask["input"];
};

/** Longer prompts are stored as their hash. */
const longestPrompt = 4000;

/** Ingredients of code that was just written for this task. `guides` are the names of the guides in its prompt. */
export function ingredientsOf(
  task: TaskDefinition,
  generator: Generator,
  { reads, guides }: { reads: readonly ContextRead[]; guides: readonly string[] },
): Ingredients {
  return buildIngredients(task, generator, typesOf(reads, task.input ?? []), guides);
}

/**
 * Ingredients that the same code would have now. It uses the code's own reads and guides, so that other keys of the
 * input and other guides do not matter.
 */
export function currentIngredients(
  task: TaskDefinition,
  generator: Generator,
  { reads, guides }: Ingredients,
): Ingredients {
  return buildIngredients(task, generator, task.input ? currentTypes(reads, task.input) : reads, Object.keys(guides));
}

function buildIngredients(
  { node, edges, version: { workflow } }: TaskDefinition,
  generator: Generator,
  reads: ReadTypes,
  guides: readonly string[],
): Ingredients {
  const executor = promptExecutorOf(node);
  const { prompt } = executor;
  return {
    prompt: prompt.length <= longestPrompt ? prompt : `sha256:${hash("sha256", prompt)}`,
    node_type: node.type,
    edges: node.type === "decision" ? edges.map(({ condition }) => conditionLabel(condition ?? "default")) : [],
    reads,
    generator: generator.version,
    guides: Object.fromEntries(guides.map((name) => [name, generator.guideHash(name) ?? "gone"])),
    model: writerModelOf(executor, workflow),
    settings: generator.settings,
    template: baseTemplate,
    requirements: workflow.requirements.map((line) => line.trim()).sort(),
    lib: Object.fromEntries(Object.entries(workflow.lib).map(([path, source]) => [path, hash("sha256", source)])),
  };
}

function promptExecutorOf(node: PromptTask["node"]): PromptExecutor {
  if (node.executor.kind === "prompt") return node.executor;
  throw new TypeError(`node "${node.id}" is no prompt node`);
}

/**
 * The model that the definition names for writing code, or "default". The environment's default model does not count,
 * so that code which was locked on a laptop runs in a deployment with another model or none.
 */
function writerModelOf({ model: own }: PromptExecutor, { model: common }: Workflow): string {
  return own?.code_generator ?? own?.default ?? common?.code_generator ?? common?.default ?? "default";
}

/** SHA-256 of the ingredients. Code with the same key can replace the other code. */
export function generationKey(ingredients: Ingredients): string {
  return hash("sha256", JSON.stringify(sorted(ingredients)));
}
