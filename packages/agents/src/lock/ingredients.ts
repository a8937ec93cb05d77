import { hash } from "node:crypto";
import { asReference, Context, type Member, type PromptTask } from "@nova/engine";
import { conditionLabel, type Ingredients, type PromptExecutor, sorted, type Workflow } from "@nova/workflow";
import hashes from "./guide-hashes.json" with { type: "json" };

/**
 * A node's definition, with the input that the node gets in a run. `input` is absent if only definitions are compared.
 */
export type TaskDefinition = Pick<PromptTask, "node" | "edges"> & {
  version: { workflow: Workflow };
  input?: PromptTask["input"];
};

/** Limit of characters: longer prompts are stored as their hash. */
const longestPrompt = 4000;

/**
 * Returns the ingredients of code that was just written for this task: everything on which the code depends, such as
 * the prompt and the types of the input. `guides` are the names of the guides that the model received.
 */
export function ingredientsOf(
  task: TaskDefinition,
  generator: Generator,
  { reads, guides }: { reads: readonly ContextRead[]; guides: readonly string[] },
): Ingredients {
  return buildIngredients(task, generator, typesOf(reads, task.input ?? []), guides);
}

/**
 * Returns the ingredients that the same code would have now. They contain only the keys that the code reads and the
 * guides that the model had when it wrote the code. Other keys and guides do not matter.
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
 * Returns the model that the definition names for writing code, or "default". The environment's default model does not
 * count, so that code which was locked on a laptop runs in a deployment with another model or none.
 */
function writerModelOf({ model: own }: PromptExecutor, { model: common }: Workflow): string {
  return own?.code_generator ?? own?.default ?? common?.code_generator ?? common?.default ?? "default";
}

/** Returns the SHA-256 of the ingredients. Two pieces of code with the same key can replace each other. */
export function generationKey(ingredients: Ingredients): string {
  return hash("sha256", JSON.stringify(sorted(ingredients)));
}

/** A key that code reads, as a dot path. `optional` is true if the code works without the key. */
export interface ContextRead {
  path: string;
  optional: boolean;
}

/**
 * Types of an input's values by path: `null`, `boolean`, `number`, `string`, `bytes`, `list`, `object`. `json` is a
 * list or object that is too large to be examined. `any` stands for a value that was absent when the code was written.
 */
export type ReadTypes = Ingredients["reads"];

/** Returns the types of the input with which the code was written, at the paths that the code reads. */
export function typesOf(reads: readonly ContextRead[], input: readonly Member[]): ReadTypes {
  const context = contextOf(input);
  const types = reads.map(({ path, optional }) => {
    const type = typeAt(context, path);
    return [optional ? `${path}?` : path, type === "absent" || type === "hidden" ? "any" : type] as const;
  });
  return Object.fromEntries(types.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the types of the current input at the paths that the code reads. If a value still fits its recorded type,
 * returns the recorded type.
 */
export function currentTypes(reads: ReadTypes, input: readonly Member[]): ReadTypes {
  const context = contextOf(input);
  return Object.fromEntries(
    Object.entries(reads).map(([name, written]) => [name, currentType(name, written, context)] as const),
  );
}

function currentType(name: string, written: string, context: Context): string {
  const optional = name.endsWith("?");
  const type = typeAt(context, optional ? name.slice(0, -1) : name);
  const fits =
    written === "any" ||
    type === "hidden" ||
    (type === "absent" && optional) ||
    (type === "json" && (written === "list" || written === "object")) ||
    (written === "json" && (type === "list" || type === "object"));
  return fits ? written : type;
}

function contextOf(input: readonly Member[]): Context {
  return new Context(input.map((member) => ({ ...member, by: 0 })));
}

/**
 * Returns the type at a path; `absent` if there is no value, `hidden` if the path leads into a value that is too large.
 */
function typeAt(context: Context, path: string): string {
  const found = context.find(path);
  return found ? typeInside(JSON.parse(found.json), found.inside) : "absent";
}

function typeInside(value: unknown, steps: readonly string[]): string {
  const [step, ...rest] = steps;
  if (step === undefined) return typeOf(value);
  if (value === null || typeof value !== "object") return "absent";
  const reference = asReference(value);
  if (reference) return reference.type === "json" ? "hidden" : "absent";
  if (!Object.prototype.propertyIsEnumerable.call(value, step)) return "absent";
  return typeInside((value as Record<string, unknown>)[step], rest);
}

function typeOf(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  const reference = asReference(value);
  if (reference) return reference.type === "text" ? "string" : reference.type;
  return Array.isArray(value) ? "list" : "object";
}

/** The context key of an analysis result. It is never part of a node's result. */
export const analysisKey = "_data_analysis";

/** Returns true if code mentions the result of an analysis, so that its analysis must run before it. */
export function needsAnalysis(code: string): boolean {
  return code.includes(analysisKey);
}

/**
 * Merges the keys that code reads with the keys that its analysis reads. A key is required if the code or the analysis
 * requires it.
 */
export function mergeReads(code: readonly ContextRead[], analysis: readonly ContextRead[]): ContextRead[] {
  const reads = new Map<string, ContextRead>();
  for (const read of [...code, ...analysis]) {
    if (read.path === analysisKey || read.path.startsWith(`${analysisKey}.`)) continue;
    const known = reads.get(read.path);
    reads.set(read.path, known?.optional === false ? known : read);
  }
  return Array.from(reads.values());
}

/** The ingredients of generated code that depend on the pipeline and not on the task. */
export interface Generator {
  /**
   * Version of the pipeline. A developer raises it after a change of prompts, checks or agents with which a model would
   * write other code.
   */
  version: string;
  /** Settings of requests to the code generator's model. */
  settings: string;
  /** SHA-256 of a guide's text; undefined if the guide no longer exists. */
  guideHash(name: string): string | undefined;
}

/**
 * Packages of every sandbox template. The ingredients name packages instead of a template id, because ids differ
 * between a laptop and an account, and locked code must run in both. A test compares this list with the template's own.
 */
export const baseTemplate = "pillow, psycopg[binary], pymupdf, pandas, requests";

/**
 * SHA-256 of every guide's text. A separate file holds the hashes, because frozen deployments compare guides but do not
 * contain them. A test compares the hashes with the guides.
 */
export const guideHashes: Readonly<Record<string, string>> = hashes;

/**
 * The current pipeline. Raise `version` when agents, prompts or checks change so much that code should be written
 * again. Every lock file is then stale, and every frozen deployment stops. Requests use the model's default settings.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (Object.hasOwn(guideHashes, name) ? guideHashes[name] : undefined),
};
