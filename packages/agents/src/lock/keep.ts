import type { Generation, GenerationStore, PromptTask } from "@nova/engine";
import { codeHashOf, hashOf } from "@nova/workflow";
import { clientOf, fitsTask, isSameCode, lockedCodeOf } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { generationKey, ingredientsOf } from "./ingredients.ts";
import type { ContextRead } from "./reads.ts";

/** Code that a model has written and a run has proven. */
export interface ProvenCode {
  code: string;
  /** The analysis code that must run before it, if any. */
  analysis?: string;
  /** Guides in the prompt. */
  guides: readonly { name: string }[];
  /** Embedding of the task. Without it, similar tasks do not find this code. */
  embedding?: number[];
  /** The code generator's model. */
  model: string;
  /** Costs of all steps that led to it. */
  cost: { usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
}

export interface WrittenCode extends Omit<ProvenCode, "guides"> {
  guides: readonly string[];
  /** Every key that the code or its analysis reads. */
  reads: readonly ContextRead[];
  /** ISO 8601. */
  createdAt: string;
}

/**
 * Stores code that was written for a task. Code that is `proven` by a run is pinned, and replaces the pinned code for
 * the same ingredients, which stays in the history. Unproven code, and unapproved code in a workflow that requires
 * approval, stays a candidate. A second delivery of the task does not store it again.
 */
export async function keepGeneration(
  store: GenerationStore,
  task: PromptTask,
  generator: Generator,
  written: WrittenCode,
  { proven }: { proven: boolean },
): Promise<Generation> {
  const generation = generationOf(task, generator, written);
  const kept = await store.of(generation.workflowId, generation.node, generation.client);
  const known = kept.find((one) => isSameCode(one, generation));
  if (!known) await store.create(generation);
  const isLate = known?.status === "replaced" && known.provenBy === task.at.execution;
  if (!proven || isLate) return known ?? generation;
  const waits = task.version.workflow.approval === "required" && !known?.approved;
  const proof = { status: waits ? "candidate" : "pinned", provenBy: task.at.execution } as const;
  await store.update(generation, proof);
  if (!waits) await replaceOthers(store, task, generator, generation, kept);
  return { ...(known ?? generation), ...proof };
}

/**
 * Marks other code for the same ingredients as replaced, including failed locked code, which may be new to the store.
 */
async function replaceOthers(
  store: GenerationStore,
  task: PromptTask,
  generator: Generator,
  generation: Generation,
  kept: readonly Generation[],
): Promise<void> {
  const isOther = (one: Pick<Generation, "key" | "codeHash" | "ingredients">) =>
    !isSameCode(one, generation) && fitsTask(task, one, generator);
  const locked = lockedCodeOf(task).filter((one) => isOther(one) && !kept.some((other) => isSameCode(one, other)));
  const { format, workflowId, node, client } = generation;
  for (const one of locked) await store.create({ ...one, format, workflowId, node, client, status: "replaced" });
  for (const one of kept) {
    if (one.status === "pinned" && isOther(one)) await store.update(one, { status: "replaced" });
  }
}

function generationOf(task: PromptTask, generator: Generator, written: WrittenCode): Generation {
  const { code, analysis, model, cost, createdAt, embedding } = written;
  const ingredients = ingredientsOf(task, generator, written);
  return {
    format: 1,
    workflowId: task.version.workflowId,
    node: task.node.id,
    client: clientOf(task),
    key: generationKey(ingredients),
    ingredients,
    codeHash: codeHashOf(written),
    code,
    ...(analysis !== undefined && { analysis, analysisHash: hashOf(analysis) }),
    status: "candidate",
    origin: "generated",
    model,
    cost,
    createdAt,
    ...(embedding && { embedding }),
  };
}
