import type { Generation, GenerationStore, PinnedCode, Pipeline, PipelineOutcome, PromptTask } from "@nova/engine";
import { generationId, noCode } from "@nova/engine";
import { codeHashOf, hashOf } from "@nova/workflow";
import {
  choosePinned,
  clientOf,
  explainMiss,
  findPinned,
  fitsTask,
  isSameCode,
  lockedCodeOf,
  usesStore,
  waitsForApproval,
} from "./choose.ts";
import { type ContextRead, type Generator, generationKey, ingredientsOf, mergeReads } from "./ingredients.ts";

interface PinnedCodesParts {
  store: GenerationStore;
  generator: Generator;
  readsOf(source: string): Promise<readonly ContextRead[]>;
  clock: { now(): number };
}

/** Creates the access to locked and stored code. It needs one query per node. */
export function createPinnedCodes(parts: PinnedCodesParts) {
  const { store, generator } = parts;
  const storedFor = async (task: PromptTask) =>
    usesStore(task) ? store.of(task.version.workflowId, task.node.id, clientOf(task)) : [];
  return {
    async choose(task: PromptTask): Promise<PinnedCode | null> {
      return choosePinned(task, await storedFor(task), generator);
    },
    async find(task: PromptTask, generation: string): Promise<PinnedCode> {
      return findPinned(task, await storedFor(task), generation);
    },
    /** Stores code that a run has proven, and returns the id of this code. Storing the same code twice is harmless. */
    async keep(task: PromptTask, code: ProvenCode): Promise<string> {
      return generationId(await keepGeneration(parts, task, code, true));
    },
    async propose(task: PromptTask, code: ProvenCode): Promise<void> {
      await keepGeneration(parts, task, code, false);
    },
    /** Explains why a task has no code that may run. `waits` is true if there is code that only lacks an approval. */
    async missing(task: PromptTask): Promise<{ message: string; waits: boolean }> {
      const stored = await storedFor(task);
      const waits = waitsForApproval(task, stored, generator);
      return { message: explainMiss(task, stored, generator), waits };
    },
  };
}

/** Makes a pipeline in which no model writes code. Text nodes still ask their models. */
export function frozenPipeline(pipeline: Pipeline): Pipeline {
  const frozen = (task: PromptTask): PromptTask => ({ ...task, frozen: true });
  return {
    pinned: (task) => pipeline.pinned(frozen(task)),
    generation: (task, key) => pipeline.generation(frozen(task), key),
    run: (task, means, pinned) => pipeline.run(frozen(task), means, pinned),
    answer: (task, means) => pipeline.answer(task, means),
    converse: (task, means) => pipeline.converse(task, means),
  };
}

/** Makes a pipeline that never asks a model: pinned code runs, and text nodes fail. */
export function modelFreePipeline(pipeline: Pipeline): Pipeline {
  return {
    ...frozenPipeline(pipeline),
    answer: refuseQuestion,
    converse: refuseQuestion,
  };
}

async function refuseQuestion({ node: { id } }: Pick<PromptTask, "node">): Promise<PipelineOutcome> {
  const message = `node "${id}" would ask a model, and models are off (NOVA_MODELS) - switch them on where nodes run`;
  return { ...noCode, status: "failed", class: "NodeFailed", message };
}

/** Code that a model has written and a run has proven. */
export interface ProvenCode {
  code: string;
  analysis?: string;
  guides: readonly { name: string }[];
  /** Embedding of the task. Without it, similar tasks do not find this code. */
  embedding?: number[];
  model: string;
  cost: { usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
}

/**
 * Stores code that was written for a task. If a run has proven the code, it is pinned, and the earlier pinned code for
 * the same ingredients becomes replaced code. Unproven code stays a candidate. In a workflow that requires approval,
 * unapproved code stays a candidate, too. A second delivery of the task does not store the code again.
 */
async function keepGeneration(parts: PinnedCodesParts, task: PromptTask, code: ProvenCode, isProven: boolean) {
  const { store } = parts;
  const generation = await generationOf(parts, task, code);
  const kept = await store.of(generation.workflowId, generation.node, generation.client);
  const known = kept.find((one) => isSameCode(one, generation));
  if (!known) await store.create(generation);
  const isLate = known?.status === "replaced" && known.provenBy === task.at.execution;
  if (!isProven || isLate) return known ?? generation;
  const waits = task.version.workflow.approval === "required" && !known?.approved;
  const proof = { status: waits ? "candidate" : "pinned", provenBy: task.at.execution } as const;
  await store.update(generation, proof);
  if (!waits) await replaceOthers(parts, task, generation, kept);
  return { ...(known ?? generation), ...proof };
}

/**
 * Marks other code for the same ingredients as replaced. Also stores locked code that the store lacks, as replaced
 * code.
 */
async function replaceOthers(
  { store, generator }: PinnedCodesParts,
  task: PromptTask,
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

async function generationOf(parts: PinnedCodesParts, task: PromptTask, written: ProvenCode): Promise<Generation> {
  const { code, analysis, model, cost, embedding } = written;
  const own = await parts.readsOf(code);
  const reads = analysis === undefined ? own : mergeReads(own, await parts.readsOf(analysis));
  const guides = written.guides.map(({ name }) => name);
  const ingredients = ingredientsOf(task, parts.generator, { reads, guides });
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
    createdAt: new Date(parts.clock.now()).toISOString(),
    ...(embedding && { embedding }),
  };
}
