import type { Node, RunErrorClass } from "@nova/workflow";
import { contentText, unlessErased } from "../chain/contents.ts";
import type { Head } from "../chain/head.ts";
import { type StepText, stepFrom, stepTexts } from "../chain/steps/step-record.ts";
import type { RawJson } from "../json/text.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { StepContentName, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { StepDraft } from "../ports/pipeline.ts";
import type { StepRecord } from "../protocol/attempts.ts";
import type { AiMetadata } from "./ai-metadata.ts";

/** One entry of the chain of work as the world sees it; field names are public. Contexts are given with `full` only. */
export interface TraceEntry {
  seq: number;
  scope: string;
  node_id: string;
  node_type: string;
  status: "success" | "failed";
  error_class: string | null;
  error_message: string | null;
  traceback: string | null;
  decision_result: string | null;
  path_taken: string | null;
  changes: { set: RawJson; delete: string[] };
  execution_time_ms: number;
  attempt: number;
  /** Deliveries that came to nothing before the first attempt began: no sandbox was to be had, or their Lambda died. */
  failed_deliveries?: number;
  sandbox_id: string | null;
  timestamp: string;
  hash: string;
  prev: string | null;
  code_hash: string | null;
  /** What names led to that its code could connect to on other ports than 80 and 443. */
  resolved_hosts?: Readonly<Record<string, readonly string[]>>;
  /** Of prompt nodes. */
  ai_metadata: AiMetadata | null;
  steps: TraceStep[];
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
  /** Of a node that runs another workflow; `entries` with `full` only. */
  child?: { execution_id: string; workflow: string; version: number; entries?: TraceEntry[] };
  /** Of a fork's link: what ran in its branches, before the next entry. */
  branches?: TraceBranch[];
}

/** A branch of a parallel fork, named by its first node, or an item of a map, named by its number; begun or not. */
export interface TraceBranch {
  branch: string;
  scope: string;
  entries: TraceEntry[];
}

/** What the public form takes over from a head as it is. */
export function publicHead(head: Head) {
  return {
    seq: head.seq,
    scope: head.scope,
    node_id: head.node_id,
    node_type: head.node_type,
    status: head.status,
    error_class: head.error_class ?? null,
    decision_result: head.decision_result,
    path_taken: head.path_taken,
    execution_time_ms: head.execution_time_ms,
    attempt: head.attempt,
    ...(head.failed_deliveries !== undefined && { failed_deliveries: head.failed_deliveries }),
    sandbox_id: head.sandbox_id,
    timestamp: head.timestamp,
    prev: head.prev,
    code_hash: head.code,
    ...(head.addresses && { resolved_hosts: head.addresses }),
  };
}

/** One agent run as the world sees it; field names are public. What was erased is null. */
export interface TraceStep extends Omit<StepDraft, "prompt" | "answer" | "result"> {
  format: 1;
  /** Of `execution_time_ms`, the run of code in the sandbox. */
  run_time_ms?: number;
  /** Of an attempt of the whole node. */
  error_class?: RunErrorClass;
  /** Of an attempt that another one followed: how long that was waited for; with jitter at most. */
  retry_delay_ms?: number;
  /** The delay is drawn between nothing and `retry_delay_ms`. */
  retry_jitter?: true;
  timestamp: string;
  /** What the model saw and answered, with `full` only. */
  prompt?: string | null;
  answer?: string | null;
}

const always: StepContentName[] = ["input", "output", "code", "tools", "error", "logs"];
const inFull: StepContentName[] = ["prompt", "answer"];

export async function traceStep(
  { blobs }: Pick<Ports, "blobs">,
  stored: StoredStep,
  home: BlobHome,
  { full, node }: { full: boolean; node?: Node | undefined },
): Promise<TraceStep> {
  const told = JSON.parse(stored.text) as StepText | StepRecord;
  if (!("digests" in told)) return attemptStep(told, node);
  const names = full ? [...always, ...inFull] : always;
  const texts = await stepTexts(stored, names, (content) => unlessErased(() => contentText(content, home, blobs)));
  const { traceback, logs, ...step } = stepFrom(stored.step, told, texts);
  return {
    format: 1,
    step_number: step.step_number,
    step_name: step.step_name,
    agent_name: step.agent_name,
    attempt_number: step.attempt_number,
    input_data: step.input_data,
    output_data: step.output_data,
    generated_code: step.generated_code,
    sandbox_id: step.sandbox_id,
    model_used: step.model_used,
    tokens_input: step.tokens_input,
    tokens_cached: step.tokens_cached,
    tokens_output: step.tokens_output,
    cost_usd: step.cost_usd,
    tool_calls: step.tool_calls,
    status: step.status,
    error_message: step.error_message,
    ...(traceback !== undefined && { traceback }),
    ...(logs !== undefined && { logs }),
    execution_time_ms: step.execution_time_ms,
    ...(told.run_time_ms !== undefined && { run_time_ms: told.run_time_ms }),
    timestamp: step.timestamp,
    ...(full && told.digests.prompt !== undefined && { prompt: texts.prompt ?? null }),
    ...(full && told.digests.answer !== undefined && { answer: texts.answer ?? null }),
  };
}

/** A failed attempt of a whole node, which has all of its fields in its text. */
export function attemptStep(record: StepRecord, node: Node | undefined): TraceStep {
  const hasJitter = record.retry_delay_ms && node && "retry" in node && node.retry?.jitter;
  return { ...nothingAsked, ...record, ...(hasJitter && { retry_jitter: true }) };
}

const nothingAsked = {
  input_data: null,
  output_data: null,
  generated_code: null,
  model_used: null,
  tokens_input: 0,
  tokens_cached: 0,
  tokens_output: 0,
  cost_usd: 0,
  tool_calls: [],
};
