import { defined, type Node, type RunErrorClass } from "@nova/workflow";
import { contentText, unlessErased } from "../chain/contents.ts";
import { type StepText, stepFrom, stepTexts } from "../chain/steps/step-record.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { StepContentName, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { StepDraft } from "../ports/pipeline.ts";
import type { StepRecord } from "../protocol/attempts.ts";

/** The public form of one agent run; field names are public. Erased contents are null. */
export interface TraceStep extends Omit<StepDraft, "prompt" | "answer" | "result"> {
  format: 1;
  /** The part of `execution_time_ms` in which code ran in the sandbox. */
  run_time_ms?: number;
  /** Set for an attempt of the whole node. */
  error_class?: RunErrorClass;
  /** Set for an attempt with a next one: the delay between them. With jitter it is the maximum. */
  retry_delay_ms?: number;
  /** The actual delay is random, between zero and `retry_delay_ms`. */
  retry_jitter?: true;
  timestamp: string;
  /** The prompt and the answer of the model; only with `full`. */
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
  const { journal: _, result: __, ...step } = stepFrom(stored.step, told, texts);
  const shown = (name: "prompt" | "answer") => (full && told.digests[name] ? (texts[name] ?? null) : undefined);
  const { run_time_ms } = told;
  return { format: 1, ...step, ...defined({ run_time_ms, prompt: shown("prompt"), answer: shown("answer") }) };
}

/** Builds the step of a failed attempt of a whole node, whose text holds all of its fields. */
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
