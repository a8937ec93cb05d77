import type { Generation, GenerationStore, PromptTask } from "@nova/engine";
import { codeHashOf, hashOf } from "@nova/workflow";
import { clientOf, isHit, isSame, lockedOf } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { ingredientsOf } from "./ingredients.ts";
import { generationKey } from "./key.ts";
import type { Read } from "./reads.ts";

/** Code that the pipeline has come to. */
export interface WrittenCode {
  code: string;
  /** What has to run before it. */
  analysis?: string;
  /** Every key that it reads, and its analysis. */
  reads: readonly Read[];
  /** Names of the guides that the prompt had. */
  guides: readonly string[];
  /** The model that wrote it. */
  model: string;
  /** All that was spent until it was there. */
  cost: Generation["cost"];
  /** ISO 8601. */
  createdAt: string;
  /** Of the task. */
  embedding?: number[];
}

/**
 * Keeps code that was written for a task. `proven` in a run of it, it is pinned, and what was pinned for the same is
 * replaced and kept for its history; where approval is required, and before it is proven, it stays a candidate.
 * A task that is delivered twice keeps it once.
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
  const known = kept.find((one) => isSame(one, generation));
  if (!known) await store.create(generation);
  const isLate = known?.status === "replaced" && known.provenBy === task.at.execution;
  if (!proven || isLate) return known ?? generation;
  const waits = task.version.workflow.approval === "required" && !known?.approved;
  const proof = { status: waits ? "candidate" : "pinned", provenBy: task.at.execution } as const;
  await store.update(generation, proof);
  if (!waits) await replaceOthers(store, task, generator, generation, kept);
  return { ...(known ?? generation), ...proof };
}

/** Whatever was pinned for the same; locked code too, which has failed then, and may be new to the store. */
async function replaceOthers(
  store: GenerationStore,
  task: PromptTask,
  generator: Generator,
  generation: Generation,
  kept: readonly Generation[],
): Promise<void> {
  const isOther = (one: Pick<Generation, "key" | "codeHash" | "ingredients">) =>
    !isSame(one, generation) && isHit(task, one, generator);
  const locked = lockedOf(task).filter((one) => isOther(one) && !kept.some((other) => isSame(one, other)));
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
