import type { PipelineMeans, PromptTask } from "@nova/engine";
import type { ContextShape } from "@nova/python";
import type { PromptExecutor } from "@nova/workflow";
import type { Failure } from "../failures/failure.ts";
import type { PipelineParts } from "../parts.ts";
import type { Example } from "../precedents/closest-examples.ts";
import { shapeOf } from "../schema/summary.ts";
import type { ModelRun } from "./model-run.ts";

/** What is known while a node's code is written: everything in it follows from the task and the recorded steps. */
export interface NodeRun extends ModelRun {
  readonly task: PromptTask;
  readonly executor: PromptExecutor;
  readonly means: PipelineMeans;
  readonly parts: PipelineParts;
  readonly shape: ContextShape;
  analysis: Analysis | null;
  /** The code generator itself has asked for an analysis. */
  hasFollowedAnalysis: boolean;
  failures: Failure[];
  /** What this delivery has looked up of tasks like this one. */
  recall: Recall | null;
  /** The last code that was written. */
  code: string | null;
  sandboxId: string | null;
}

/** What an analysis found, as JSON text (secrets masked), and the code that found it. */
export interface Analysis {
  json: string;
  code: string;
}

/** What is remembered of tasks like this one, and what it has cost to look for it. */
export interface Recall {
  examples?: Example[];
  /** Of the task. */
  embedding?: number[];
  spent: { tokens: number; usd: number };
  /** For the step that pays for it. */
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
