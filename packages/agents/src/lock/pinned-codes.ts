import type { Generation, GenerationStore, PinnedCode, Pipeline, PromptTask } from "@nova/engine";
import type { PinnedCodes, ProvenCode } from "../parts.ts";
import { readsTogether } from "../two-stages.ts";
import { choosePinned, clientOf, countsStore, findPinned, waitsForApproval } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { keepGeneration } from "./keep.ts";
import { generationId } from "./key.ts";
import type { Read } from "./reads.ts";
import { explainMiss } from "./staleness.ts";

export interface PinnedCodesParts {
  store: GenerationStore;
  generator: Generator;
  /** Every key that Python source reads. */
  readsOf(source: string): Promise<readonly Read[]>;
  clock: { now(): number };
}

/** Code of earlier runs, from what is locked beside the workflow and from the store. One query per node. */
export function createPinnedCodes({ store, generator, readsOf, clock }: PinnedCodesParts): PinnedCodes {
  return {
    async choose(task): Promise<PinnedCode | null> {
      return choosePinned(task, await storedFor(store, task), generator);
    },
    async find(task, generation) {
      return findPinned(task, await storedFor(store, task), generation);
    },
    async keep(task, code) {
      return generationId(await keepCode(task, code, true));
    },
    async propose(task, code) {
      await keepCode(task, code, false);
    },
    async missing(task) {
      const stored = await storedFor(store, task);
      return {
        message: explainMiss(task, stored, generator),
        waits: waitsForApproval(task, stored, generator),
      };
    },
  };

  async function keepCode(task: PromptTask, proof: ProvenCode, proven: boolean) {
    const { code, analysis, guides, model, cost, embedding } = proof;
    const written = {
      ...{ code, model, cost },
      ...(analysis === undefined
        ? { reads: await readsOf(code) }
        : { analysis, reads: readsTogether(await readsOf(code), await readsOf(analysis)) }),
      guides: guides.map(({ name }) => name),
      createdAt: new Date(clock.now()).toISOString(),
      ...(embedding && { embedding }),
    };
    return keepGeneration(store, task, generator, written, { proven });
  }
}

async function storedFor(store: GenerationStore, task: PromptTask): Promise<Generation[]> {
  return !countsStore(task) ? [] : store.of(task.version.workflowId, task.node.id, clientOf(task));
}

/** A pipeline where no model may ever be asked, whatever a run says. */
export function frozenPipeline(pipeline: Pipeline): Pipeline {
  const frozen = (task: PromptTask): PromptTask => ({ ...task, frozen: true });
  return {
    pinned: (task) => pipeline.pinned(frozen(task)),
    generation: (task, key) => pipeline.generation(frozen(task), key),
    run: (task, means, pinned) => pipeline.run(frozen(task), means, pinned),
  };
}
