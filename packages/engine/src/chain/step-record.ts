import { defined, maskValue } from "@nova/workflow";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { StepContentName, StoredStep, Turn } from "../ports/chain.ts";
import { type JournalStep, noCode, type PipelineOutcome, pinnedPlaces, type StepDraft } from "../ports/pipeline.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { sha256 } from "../sha256.ts";
import { contentText, sealContents } from "./entry.ts";

/** The fields that the hashed text of a step takes unchanged from the pipeline. */
const plainFields = [
  ...(["step_number", "step_name", "agent_name", "attempt_number", "sandbox_id", "model_used"] as const),
  ...(["tokens_input", "tokens_cached", "tokens_output", "cost_usd", "status", "execution_time_ms"] as const),
];

type PlainFields = Pick<StepDraft, (typeof plainFields)[number]>;

/**
 * The hashed text of a step, format 1. Large or personal values are stored as contents, and this text has only their
 * digests.
 */
export interface StepText extends PlainFields {
  format: 1;
  /** The part of `execution_time_ms` in which code ran in the sandbox. */
  run_time_ms?: number;
  cost_notes?: string[];
  timestamp: string;
  /** SHA-256 of the blobs that the result refers to, or may refer to. */
  blobs?: string[];
  digests: Partial<Record<StepContentName, string>>;
}

type StepTexts = Partial<Record<StepContentName, string | null>>;

export interface StepFacts {
  journal: number;
  number: number;
  timestamp: string;
  runTimeMs: number | undefined;
  /** Set for pinned code that failed: the result of the analysis that ran before it. */
  analysis?: CodeResult;
  blobs: string[];
  mask(text: string): string;
}

/** Builds a step to write and stores its large contents. Also returns the step as later deliveries will read it. */
export async function sealStep(draft: StepDraft, facts: StepFacts, home: BlobHome, blobs: BlobStore) {
  const texts = textsOf(draft, facts);
  const { contents, digests } = await sealContents(texts, home, blobs);
  const fields = Object.fromEntries(plainFields.map((name) => [name, draft[name]])) as PlainFields;
  const { timestamp, runTimeMs: run_time_ms } = facts;
  const named = facts.blobs.length > 0 ? facts.blobs : undefined;
  const more = defined({ run_time_ms, cost_notes: draft.cost_notes, blobs: named });
  const record: StepText = { format: 1, ...fields, timestamp, ...more, digests };
  const text = JSON.stringify(record);
  const stored = { step: facts.number, text, hash: sha256(text), contents };
  return { stored, step: stepFrom(facts.journal, record, texts) };
}

/**
 * Collects the contents of a step. Masks texts for people, but not code and its result, because later deliveries use
 * these.
 */
function textsOf(draft: StepDraft, { mask, analysis }: StepFacts): Partial<Record<StepContentName, string>> {
  const { error_message: message, traceback, logs, prompt, answer, result } = draft;
  const masked = (text: string | undefined) => (text === undefined ? undefined : mask(text));
  const json = (value: unknown) => (value == null ? undefined : JSON.stringify(maskValue(value, mask)));
  return defined({
    input: json(draft.input_data),
    output: json(draft.output_data),
    error: json(message === null ? undefined : { message, ...(traceback && { traceback }) }),
    tools: json(draft.tool_calls.length > 0 ? draft.tool_calls : undefined),
    code: draft.generated_code ?? undefined,
    logs: masked(logs || undefined),
    prompt: masked(prompt),
    answer: masked(answer),
    result: result && JSON.stringify(result),
    analysis: analysis && JSON.stringify(analysis),
  });
}

/** Builds a step from its record. A content is null if it is missing in `texts` or was erased. */
export function stepFrom(journal: number, record: StepText, texts: StepTexts): JournalStep {
  const { format: _, digests: __, blobs: ___, run_time_ms: ____, ...facts } = record;
  const error = parseContent(texts.error) as { message: string; traceback?: string } | null;
  const { logs, result } = texts;
  return {
    ...facts,
    journal,
    input_data: parseContent(texts.input),
    output_data: parseContent(texts.output),
    generated_code: texts.code ?? null,
    tool_calls: (parseContent(texts.tools) ?? []) as JournalStep["tool_calls"],
    error_message: error?.message ?? null,
    ...defined({ traceback: error?.traceback || undefined, logs: logs || undefined }),
    ...(result && record.status === "success" && { result: JSON.parse(result) }),
  };
}

function parseContent(text: string | null | undefined): unknown {
  return text == null ? null : JSON.parse(text);
}

/** The contents that a later delivery needs. The full prompt and the full answer are only for people. */
const replayed: StepContentName[] = ["input", "output", "code", "tools", "error", "logs", "result"];

/** Rebuilds a recorded step for a pipeline. Throws `BlobMissing` for a content that was erased. */
export async function replayedStep(place: number, stored: StoredStep, home: BlobHome, blobs: BlobStore) {
  const texts = await stepTexts(stored, replayed, (content) => contentText(content, home, blobs));
  return stepFrom(place, JSON.parse(stored.text) as StepText, texts);
}

type Read = (content: NonNullable<NonNullable<StoredStep["contents"]>[StepContentName]>) => Promise<string | null>;

export async function stepTexts({ contents = {} }: StoredStep, names: StepContentName[], read: Read) {
  const texts: StepTexts = {};
  await Promise.all(
    names.map(async (name) => {
      const content = contents[name];
      if (content) texts[name] = await read(content);
    }),
  );
  return texts;
}

export type Failed = PipelineOutcome & { status: "failed" };

/**
 * Builds the record of a pipeline's failure. The record gets the number of the next step, so that no delivery carries
 * out that step.
 */
export async function sealEnding(step: number, failure: Failed, home: BlobHome, blobs: BlobStore): Promise<StoredStep> {
  const { contents, digests } = await sealContents({ output: JSON.stringify(failure) }, home, blobs);
  const text = JSON.stringify({ format: 1, ends: true, digests });
  return { step, text, hash: sha256(text), contents };
}

export function isEnding({ text }: StoredStep): boolean {
  return (JSON.parse(text) as { ends?: true }).ends === true;
}

export async function readEnding({ contents }: StoredStep, home: BlobHome, blobs: BlobStore): Promise<Failed> {
  if (contents?.output) return JSON.parse(await contentText(contents.output, home, blobs)) as Failed;
  return { ...noCode, status: "failed", class: "NodeFailed", message: "erased" };
}

/** Each attempt of a turn has its own step numbers, so that late deliveries do not disturb later attempts. */
const stepsPerAttempt = 1000;
/** The first number of notes: records that only deliveries of the same node read, and that no entry lists. */
const firstNote = 5000;

/**
 * The number that stands for the end of an attempt in `kept`. The steps of the next attempt are numbered separately.
 */
export const attemptBoundary = -1;

export function isPinnedPlace(place: number): boolean {
  return place === pinnedPlaces.code || place === pinnedPlaces.analysis;
}

type Moves = Pick<Turn, "kept">;

/** Returns the number under which the n-th step of an attempt is stored. `place` is n, counted from 1. */
export function stepNumber({ kept = [] }: Moves, place: number): number {
  const first = kept.lastIndexOf(attemptBoundary) + 1;
  const moves = kept.slice(first).findIndex((count) => place <= count);
  return (moves < 0 ? kept.length : first + moves) * stepsPerAttempt + place;
}

/** The number of the record of an attempt as a whole, which comes after all steps of the attempt. */
export function attemptNumber({ kept = [] }: Moves): number {
  return (kept.length + 1) * stepsPerAttempt - 1;
}

export function noteNumber(turn: Moves, place: number): number {
  return firstNote + stepNumber(turn, place);
}

export function earlierSteps({ kept = [] }: Moves, stored: readonly StoredStep[]): StoredStep[] {
  return kept.flatMap((count, move) => {
    if (count !== attemptBoundary) return [];
    const turn = { kept: kept.slice(0, move) };
    return [...journalOf(turn, stored), ...stored.filter(({ step }) => step === attemptNumber(turn))];
  });
}

/**
 * Returns the steps of the current attempt, in order. They end before the first missing number, and before the record
 * of a failed pipeline.
 */
export function journalOf(turn: Moves, stored: readonly StoredStep[]): StoredStep[] {
  const byNumber = new Map(stored.map((step) => [step.step, step]));
  const steps: StoredStep[] = [];
  for (;;) {
    const step = byNumber.get(stepNumber(turn, steps.length + 1));
    if (!step || isEnding(step)) return steps;
    steps.push(step);
  }
}
