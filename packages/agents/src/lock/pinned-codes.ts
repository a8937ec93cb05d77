import {
  type Generation,
  type GenerationStore,
  generationId,
  noCode,
  type PinnedCode,
  type Pipeline,
  type PromptTask,
} from "@nova/engine";
import { choosePinned, clientOf, findPinned, usesStore, waitsForApproval } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { keepGeneration, type ProvenCode } from "./keep.ts";
import { type ContextRead, mergeReads } from "./reads.ts";
import { explainMiss } from "./staleness.ts";

export interface PinnedCodesParts {
  store: GenerationStore;
  generator: Generator;
  /** Lists every key that Python source reads. */
  readsOf(source: string): Promise<readonly ContextRead[]>;
  clock: { now(): number };
}

/** Access to locked and stored code, with one query per node. */
export function createPinnedCodes({ store, generator, readsOf, clock }: PinnedCodesParts) {
  const keepCode = async (task: PromptTask, proof: ProvenCode, proven: boolean): Promise<Generation> => {
    const { code, analysis } = proof;
    const own = await readsOf(code);
    const reads = analysis === undefined ? own : mergeReads(own, await readsOf(analysis));
    const guides = proof.guides.map(({ name }) => name);
    const written = { ...proof, guides, reads, createdAt: new Date(clock.now()).toISOString() };
    return keepGeneration(store, task, generator, written, { proven });
  };
  return {
    async choose(task: PromptTask): Promise<PinnedCode | null> {
      return choosePinned(task, await storedFor(store, task), generator);
    },
    /** Finds code by the id of its generation. */
    async find(task: PromptTask, generation: string): Promise<PinnedCode> {
      return findPinned(task, await storedFor(store, task), generation);
    },
    /** Stores proven code and returns the id of its generation. Storing the same code twice is harmless. */
    async keep(task: PromptTask, code: ProvenCode): Promise<string> {
      return generationId(await keepCode(task, code, true));
    },
    /** Stores code that has not run, for approval. */
    async propose(task: PromptTask, code: ProvenCode): Promise<void> {
      await keepCode(task, code, false);
    },
    /** Explains why a task has no code that may run. `waits` is true if the code only lacks an approval. */
    async missing(task: PromptTask): Promise<{ message: string; waits: boolean }> {
      const stored = await storedFor(store, task);
      const waits = waitsForApproval(task, stored, generator);
      return { message: explainMiss(task, stored, generator), waits };
    },
  };
}

async function storedFor(store: GenerationStore, task: PromptTask): Promise<Generation[]> {
  return !usesStore(task) ? [] : store.of(task.version.workflowId, task.node.id, clientOf(task));
}

/** A pipeline in which no model writes code. Text nodes still ask their models. */
export function frozenPipeline(pipeline: Pipeline): Pipeline {
  const frozen = (task: PromptTask): PromptTask => ({ ...task, frozen: true });
  return {
    pinned: (task) => pipeline.pinned(frozen(task)),
    generation: (task, key) => pipeline.generation(frozen(task), key),
    run: (task, means, pinned) => pipeline.run(frozen(task), means, pinned),
    answer: (task, means) => pipeline.answer(task, means),
  };
}

/** A pipeline in which no model is ever asked: pinned code runs, and text nodes fail. */
export function modelFreePipeline(pipeline: Pipeline): Pipeline {
  return {
    ...frozenPipeline(pipeline),
    async answer({ node: { id } }) {
      const message = `node "${id}" would ask a model, and models are off (NOVA_MODELS) - switch them on where nodes run`;
      return { ...noCode, status: "failed", class: "NodeFailed", message };
    },
  };
}
