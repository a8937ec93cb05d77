import type { PinnedCode, PipelineOutcome } from "@nova/engine";
import type { PipelineParts } from "../../../packages/agents/src/agents/node-run.ts";
import type { ProvenCode } from "../../../packages/agents/src/lock/pinned-codes.ts";
import { pipelineOf } from "../../../packages/agents/src/pipeline.ts";
import { NodeMeans, type NodeMeansOptions } from "./node-means.ts";
import { fakePinned, pipelineParts } from "./parts.ts";
import { promptTask, type TaskOptions } from "./prompt-task.ts";
import { embeddingModels, type Line, type ScriptedModels, type Vector } from "./scripted-models.ts";

/** The script of a test of one node: the answers of models, the outcomes of code, and the task. */
export interface Scene {
  lines: readonly Line[];
  /** The answers of the embedding model; absent if the pipeline has no such model. */
  vectors?: readonly Vector[];
  runs?: NodeMeansOptions["runs"];
  task?: TaskOptions;
  check?: PipelineParts["check"];
  pinned?: PinnedCode;
  /** The reason why no code is pinned, for the error of a frozen run. */
  missing?: { message: string; waits: boolean };
  parts?: Partial<PipelineParts>;
  means?: Omit<NodeMeansOptions, "runs" | "isDecision">;
  /** The number of steps after which the Lambda dies. */
  dieAt?: number;
}

export interface Played {
  outcome: PipelineOutcome;
  means: NodeMeans;
  models: ScriptedModels;
  kept: ProvenCode[];
  proposed: ProvenCode[];
}

/**
 * Runs a scene to its end, or until the Lambda dies after `dieAt` steps. Without `dieAt`, checks that each answer and
 * each outcome of code in the scene was used. The result has no outcome if the Lambda dies.
 */
export async function play(scene: Scene): Promise<Played> {
  const isDecision = scene.task?.type === "decision";
  const means = new NodeMeans({ ...scene.means, ...(scene.runs && { runs: scene.runs }), isDecision });
  means.dieAt = scene.dieAt ?? Number.POSITIVE_INFINITY;
  const played = await deliver(scene, means);
  if (scene.dieAt === undefined) {
    played.models.finish();
    means.finish();
  }
  return played;
}

/**
 * Delivers a node once. Each delivery gets the scripted answers of the models from the first answer on. The records of
 * earlier deliveries remain.
 */
export async function deliver(scene: Scene, means: NodeMeans): Promise<Played> {
  const models = embeddingModels(scene.vectors ?? null, ...scene.lines);
  const { kept, proposed, pinned } = fakePinned(null, scene.missing);
  const check = scene.check && { check: scene.check };
  const pipeline = pipelineOf(pipelineParts({ models, pinned, ...check, ...scene.parts }));
  const run = pipeline.run(promptTask(scene.task), means.delivery(), scene.pinned ?? null);
  const outcome = await run.catch((error: Error) => {
    if (scene.dieAt === undefined) throw error;
    return undefined as unknown as PipelineOutcome;
  });
  return { outcome, means, models, kept, proposed };
}
