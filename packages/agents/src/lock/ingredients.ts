import { hash } from "node:crypto";
import type { PromptTask } from "@nova/engine";
import { conditionLabel, type Ingredients, type PromptExecutor, sorted, type Workflow } from "@nova/workflow";
import { baseTemplate, type Generator } from "./generator.ts";
import { type ContextRead, currentTypes, type ReadTypes, typesOf } from "./reads.ts";

/** A node as its definition says it; `input` is absent where only the definition is asked about. */
export type TaskDefinition = Pick<PromptTask, "node" | "edges"> & {
  version: { workflow: Workflow };
  input?: PromptTask["input"];
};

/** Longer prompts are kept as their hash. */
const longestPrompt = 4000;

/** What code depends on that has just been written for this task. `guides` are the names of those that the prompt had. */
export function ingredientsOf(
  task: TaskDefinition,
  generator: Generator,
  { reads, guides }: { reads: readonly ContextRead[]; guides: readonly string[] },
): Ingredients {
  return buildIngredients(task, generator, typesOf(reads, task.input ?? []), guides);
}

/**
 * What the same code would depend on today: with its reads and its guides, so that neither other keys of the input nor
 * other guides matter.
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

/** A node that has a prompt; every other one never comes here. */
function promptExecutorOf(node: PromptTask["node"]): PromptExecutor {
  if (node.executor.kind === "prompt") return node.executor;
  throw new TypeError(`node "${node.id}" is no prompt node`);
}

/**
 * The model that the definition names for writing code. Where it names none, that is the environment's business: code
 * that was locked on a laptop with a model of its own runs where there is none at all.
 */
function writerModelOf({ model: own }: PromptExecutor, { model: common }: Workflow): string {
  return own?.code_generator ?? own?.default ?? common?.code_generator ?? common?.default ?? "default";
}

/** SHA-256 of everything that code depends on: what has the same key can run in its place. */
export function generationKey(ingredients: Ingredients): string {
  return hash("sha256", JSON.stringify(sorted(ingredients)));
}
