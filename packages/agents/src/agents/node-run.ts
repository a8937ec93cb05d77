import type { PipelineMeans, PromptTask } from "@nova/engine";
import type { ContextShape } from "@nova/python";
import type { PromptExecutor } from "@nova/workflow";
import type { Failure } from "../failures/failure.ts";
import type { PipelineParts } from "../parts.ts";
import type { Example } from "../precedents/closest-examples.ts";
import { shapeOf } from "../schema/summary.ts";
import type { ModelRun } from "./model-run.ts";

/** The state while a node's code is written. All of it follows from the task and the recorded steps. */
export interface NodeRun extends ModelRun {
  readonly task: PromptTask;
  readonly executor: PromptExecutor;
  readonly means: PipelineMeans;
  readonly parts: PipelineParts;
  readonly shape: ContextShape;
  analysis: Analysis | null;
  /** True after the code generator has asked for an analysis. */
  hasFollowedAnalysis: boolean;
  failures: Failure[];
  /** Examples that this delivery has looked up. */
  recall: Recall | null;
  /** The latest code. */
  code: string | null;
  sandboxId: string | null;
}

/** The result of an analysis as JSON text with masked secrets, and the analysis code. */
export interface Analysis {
  json: string;
  code: string;
}

/** Examples from similar tasks, and the costs of finding them. */
export interface Recall {
  examples?: Example[];
  /** The embedding of this task. */
  embedding?: number[];
  spent: { tokens: number; usd: number };
  /** Data for the record of the step that pays for it. */
  record: Record<string, unknown>;
}

export function beginRun(task: PromptTask, means: PipelineMeans, parts: PipelineParts): NodeRun {
  const { executor } = task.node;
  if (executor.kind !== "prompt") throw new TypeError(`node "${task.node.id}" has no prompt`);
  return {
    task,
    executor,
    means,
    parts,
    shape: shapeOf(task.input),
    spent: { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 },
    analysis: null,
    hasFollowedAnalysis: false,
    failures: [],
    recall: null,
    code: null,
    sandboxId: null,
  };
}
