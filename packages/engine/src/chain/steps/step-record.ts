import { defined, maskValue } from "@nova/workflow";
import type { BlobHome, BlobStore } from "../../ports/blobs.ts";
import type { StepContentName, StoredStep, Turn } from "../../ports/chain.ts";
import { type JournalStep, noCode, type PipelineOutcome, pinnedPlaces, type StepDraft } from "../../ports/pipeline.ts";
import type { CodeResult } from "../../ports/sandboxes.ts";
import { sha256 } from "../../sha256.ts";
import { contentText, sealContents } from "../contents.ts";

/** What the hashed text of a step takes over from the pipeline as it is. */
const plainFields = [
  ...(["step_number", "step_name", "agent_name", "attempt_number", "sandbox_id", "model_used"] as const),
  ...(["tokens_input", "tokens_cached", "tokens_output", "cost_usd", "status", "execution_time_ms"] as const),
];

type PlainFields = Pick<StepDraft, (typeof plainFields)[number]>;

/** The hashed text of a step, format 1. What is large, or may be personal data, is a content: its digest is in here. */
export interface StepText extends PlainFields {
  format: 1;
  /** Of `execution_time_ms`, the run of code in the sandbox. */
  run_time_ms?: number;
  cost_notes?: string[];
  timestamp: string;
  /** SHA-256 of the blobs that its result refers to and may refer to. */
  blobs?: string[];
  digests: Partial<Record<StepContentName, string>>;
}

type StepTexts = Partial<Record<StepContentName, string | null>>;

/** What the engine knows of a step besides what the pipeline says. */
export interface StepFacts {
  journal: number;
  /** Where it lies at its link. */
  number: number;
  timestamp: string;
  runTimeMs: number | undefined;
  /** Of pinned code that failed: what the analysis in front of it did. */
  analysis?: CodeResult;
  blobs: string[];
  mask(text: string): string;
}

/** A step ready to be put, its large contents stored, and the same step as every later delivery will read it. */
export async function sealStep(
  draft: StepDraft,
  facts: StepFacts,
  home: BlobHome,
  blobs: BlobStore,
): Promise<{ stored: StoredStep; step: JournalStep }> {
  const texts = textsOf(draft, facts);
  const { contents, digests } = await sealContents(texts, home, blobs);
  const fields = Object.fromEntries(plainFields.map((name) => [name, draft[name]])) as PlainFields;
  const { timestamp, runTimeMs: run_time_ms } = facts;
  const named = facts.blobs.length > 0 ? facts.blobs : undefined;
  const more = defined({ run_time_ms, cost_notes: draft.cost_notes, blobs: named });
  const told: StepText = { format: 1, ...fields, timestamp, ...more, digests };
  const text = JSON.stringify(told);
  const stored = { step: facts.number, text, hash: sha256(text), contents };
  return { stored, step: stepFrom(facts.journal, told, texts) };
}

/** The code and what it did stay as they are: both will be used again. */
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
    ...{ logs: masked(logs || undefined), prompt: masked(prompt), answer: masked(answer) },
    result: result && JSON.stringify(result),
    analysis: analysis && JSON.stringify(analysis),
  });
}

/** Contents that are not among `texts`, or were erased, are null. */
export function stepFrom(journal: number, told: StepText, texts: StepTexts): JournalStep {
  const { format: _, digests: __, blobs: ___, run_time_ms: ____, ...facts } = told;
  const error = parsed(texts.error) as { message: string; traceback?: string } | null;
  const { logs, result } = texts;
  return {
    ...facts,
    journal,
    input_data: parsed(texts.input),
    output_data: parsed(texts.output),
    generated_code: texts.code ?? null,
    tool_calls: (parsed(texts.tools) ?? []) as JournalStep["tool_calls"],
    error_message: error?.message ?? null,
    ...defined({ traceback: error?.traceback || undefined, logs: logs || undefined }),
    ...(result && told.status === "success" && { result: JSON.parse(result) }),
  };
}

function parsed(text: string | null | undefined): unknown {
  return text == null ? null : JSON.parse(text);
}

/** What a delivery goes on with; what the model saw and answered in full is for people. */
const replayed: StepContentName[] = ["input", "output", "code", "tools", "error", "logs", "result"];

/** The recorded step at a place, as a pipeline gets it again. Throws `BlobMissing` for a content that was erased. */
export async function replayedStep(
  place: number,
  stored: StoredStep,
  home: BlobHome,
  blobs: BlobStore,
): Promise<JournalStep> {
  const texts = await stepTexts(stored, replayed, (content) => contentText(content, home, blobs));
  return stepFrom(place, JSON.parse(stored.text) as StepText, texts);
}

type Read = (content: NonNullable<NonNullable<StoredStep["contents"]>[StepContentName]>) => Promise<string | null>;

/** Texts of those contents that are there. */
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

/** A pipeline's failure lies where its next step would, so that no delivery takes another. No entry lists it. */
export async function sealEnding(step: number, told: Failed, home: BlobHome, blobs: BlobStore): Promise<StoredStep> {
  const { contents, digests } = await sealContents({ output: JSON.stringify(told) }, home, blobs);
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

/** Each attempt of a turn has step numbers of its own: late deliveries disturb no later attempt. */
const stepsPerAttempt = 1000;
/** From here on are notes: what only deliveries of the same node want to know. No entry lists them. */
const firstNote = 5000;

/** Among `kept`: the attempt ended there, and the next one has a journal of its own. */
export const attemptBoundary = -1;

/** Whether pinned code runs there, or the analysis in front of it. */
export function isPinnedPlace(place: number): boolean {
  return place === pinnedPlaces.code || place === pinnedPlaces.analysis;
}

type Moves = Pick<Turn, "kept">;

/** Number of the step at a place of the journal, from 1. */
export function stepNumber({ kept = [] }: Moves, place: number): number {
  const first = kept.lastIndexOf(attemptBoundary) + 1;
  const moves = kept.slice(first).findIndex((count) => place <= count);
  return (moves < 0 ? kept.length : first + moves) * stepsPerAttempt + place;
}

/** Number of what a whole attempt came to, behind its steps. */
export function attemptNumber({ kept = [] }: Moves): number {
  return (kept.length + 1) * stepsPerAttempt - 1;
}

export function noteNumber(turn: Moves, place: number): number {
  return firstNote + stepNumber(turn, place);
}

/** What is recorded of the attempts before this one, in order. */
export function earlierSteps({ kept = [] }: Moves, stored: readonly StoredStep[]): StoredStep[] {
  return kept.flatMap((count, move) => {
    if (count !== attemptBoundary) return [];
    const turn = { kept: kept.slice(0, move) };
    return [...journalOf(turn, stored), ...stored.filter(({ step }) => step === attemptNumber(turn))];
  });
}

/** The steps that count, in order. */
export function journalOf(turn: Moves, stored: readonly StoredStep[]): StoredStep[] {
  const byNumber = new Map(stored.map((step) => [step.step, step]));
  const steps: StoredStep[] = [];
  for (;;) {
    const step = byNumber.get(stepNumber(turn, steps.length + 1));
    if (!step || isEnding(step)) return steps;
    steps.push(step);
  }
}
