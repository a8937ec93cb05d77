import {
  codeInDefinition,
  defined,
  type Executor,
  type LockedCode,
  type Node,
  nodeIndex,
  type RawJson,
  type RunErrorClass,
} from "@nova/workflow";
import type { TalkPart } from "../attempt/agent/talk.ts";
import { nodeAttempt, type StepRecord } from "../attempt/retry.ts";
import { contentOrNull, contentText, type Head, unlessErased } from "../chain/entry.ts";
import { sumOfSpendings } from "../chain/spending.ts";
import { type StepText, stepFrom, stepTexts } from "../chain/step-record.ts";
import type { Ballot } from "../kinds/waiting/votes.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { StepContentName, StoredEntry, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { StepDraft, WorkflowVersion } from "../ports/pipeline.ts";
import { sha256 } from "../sha256.ts";
import type { TraceTimes } from "./times.ts";

/**
 * One entry of the chain of work in the form that the API shows; field names are public. The contexts are present only
 * in a full trace.
 */
export interface TraceEntry extends ReturnType<typeof publicHead> {
  error_message: string | null;
  traceback: string | null;
  changes: { set: RawJson; delete: string[] };
  hash: string;
  ai_metadata: AiMetadata | null;
  steps: TraceStep[];
  times: TraceTimes;
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
  /** Set for nodes that run another workflow. `entries` is present only in a full trace. */
  child?: { execution_id: string; workflow: string; version: number; entries?: TraceEntry[] };
  /** Set for an agent's entry whose answer was not final: the reply of the model or the code. Null: erased. */
  reply?: ReplyView | null;
  /** Set for an entry of a vote, a withdrawal, a delegation, or the end of the votes. Null: erased. */
  vote?: BallotView | null;
  /**
   * Set for a fork: its branches with their entries. The entries of the branches come before the next entry of this
   * scope.
   */
  branches?: TraceBranch[];
}

/** A reply of an agent's model in the form that the API shows; field names are public. */
export type ReplyView = ReturnType<typeof replyView>;

/**
 * Converts the reply in a part of a talk to the form that the API shows. `refused` says why a call did not run.
 * `code_failed` says why the code of a compiled agent failed.
 */
export function replyView({ round: { reply, calls, unfit, codeFailed } }: TalkPart) {
  return {
    text: reply.text,
    calls: calls.map(({ id, name, arguments: args, text }) => defined({ id, name, arguments: args, refused: text })),
    ...defined({ unfit, code_failed: codeFailed }),
  };
}

/** A ballot in the form that the API shows; field names are public. */
export type BallotView = ReturnType<typeof ballotView>;

export function ballotView(ballot: Ballot) {
  const { kind, at } = ballot;
  if (kind === "end") return { kind, at, reason: ballot.reason };
  const { by, from } = ballot;
  const more = kind === "vote" ? defined({ choice: ballot.choice, claimed: ballot.claimed }) : {};
  return { kind, by: by.name, at, from, via: by.via, ...more, ...(kind === "delegation" && { to: ballot.to }) };
}

/**
 * A branch of a fork, named by its first node, or an item of a map, named by its number. The list of entries is empty
 * if the branch or item has not started.
 */
export interface TraceBranch {
  branch: string;
  scope: string;
  entries: TraceEntry[];
}

/** Copies those hashed fields of an entry that the API shows. */
export function publicHead(head: Head) {
  const { execution_id, seq, scope, node_id, node_type, status, decision_result, path_taken, execution_time_ms } = head;
  const { attempt, failed_deliveries, sandbox_id, timestamp, prev, code, addresses, error_class = null } = head;
  const { reused_from: reused, edited, origin, plan } = head;
  return defined({
    execution_id,
    seq,
    scope,
    node_id,
    node_type,
    status,
    error_class,
    decision_result,
    path_taken,
    execution_time_ms,
    attempt,
    /**
     * The number of deliveries that failed before the first attempt started: they found no sandbox, or their Lambda
     * died.
     */
    failed_deliveries,
    sandbox_id,
    timestamp,
    prev,
    code_hash: code,
    /** The entry whose outcome this entry reuses. The node did not run in this execution. */
    reused_from: reused ? { execution_id: reused.execution, scope: reused.scope, seq: reused.seq } : null,
    /**
     * Only in entry 0: the first run, which this run restarts directly or through other restarts, and the prefix of the
     * places of this run.
     */
    origin: origin && { execution_id: origin.execution, place: origin.place },
    /** Set for an outcome that a person wrote instead of running the node: the author and the time. */
    edited,
    /** Only in entry 0 of a restart with other initial values: their keys and their author. */
    patched: plan?.patch,
    /** The addresses to which the host names resolved, for ports other than 80 and 443. */
    resolved_hosts: addresses,
  });
}

/** One step in the form that the API shows; field names are public. Erased contents are null. */
export interface TraceStep extends Omit<StepDraft, "prompt" | "answer" | "result"> {
  format: 1;
  /** The part of `execution_time_ms` in which code ran in the sandbox. */
  run_time_ms?: number;
  /** Set if the step is a failed attempt of the whole node. */
  error_class?: RunErrorClass;
  /**
   * Set if another attempt followed: the delay before that attempt. With jitter, this is the largest possible delay.
   */
  retry_delay_ms?: number;
  /** Set if the actual delay is random, between zero and `retry_delay_ms`. */
  retry_jitter?: true;
  timestamp: string;
  /** The prompt and the answer of the model. Both are present only in a full trace. */
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

/**
 * Builds the public step of a failed attempt of a whole node. Such a step has no contents, so this function needs only
 * the record.
 */
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

/** Facts about the models of a prompt or text node, computed from its entry and steps; field names are public. */
export type AiMetadata = ReturnType<typeof aiMetadata> & Partial<TextMetadata>;

/** Facts about the prompt of a text node. Secrets are masked, and long texts are shortened. */
interface TextMetadata {
  /** The prompt after its references were replaced by values. */
  processed_prompt: string;
  /** The inserted values. The key of a value is its reference in the prompt, without the braces. */
  processed_node_values: Record<string, string>;
  /** For each reference, the place where NOVA found its value. */
  references: unknown[];
  /** The references for which NOVA found no value. */
  missing: string[];
}

interface AnalysisMetadata {
  analysis_code: string | null;
  analysis_result: unknown;
  generation_time_ms: number;
  execution_time_ms: number;
}

export interface AiRun {
  head: Pick<Head, "status" | "cache_hit" | "execution_time_ms" | "error_class">;
  prompt: string;
  /** The code that ran, or the last code that a model wrote. */
  code: string | null;
  /** The model that wrote locked code, which no step of this run names. */
  codeModel: string | null;
  error: string | null;
  steps: readonly TraceStep[];
  /** The analysis that ran before pinned code. It is no step, so callers pass it separately. */
  pinnedAnalysis?: AnalysisMetadata;
}

/** The largest number of times that a pipeline lets the model write the code of one node. */
const maxAttempts = 3;

export function aiMetadata(whole: AiRun) {
  const run = { ...whole, steps: lastAttempt(whole.steps) };
  const { head, prompt, code, steps } = run;
  const isHit = head.cache_hit === true;
  const hitMs = isHit ? head.execution_time_ms - timeOf(steps) - (run.pinnedAnalysis?.execution_time_ms ?? 0) : 0;
  const { tokens_input, tokens_cached, tokens_output, cost_usd } = sumOfSpendings(whole.steps);
  const generators = stepsOf(steps, "CodeGenerator");
  const texts = stepsOf(steps, textWriter);
  const generation = generators.at(-1) ?? texts.at(-1);
  const step = stepsOf(steps, "DataAnalyzer").at(-1);
  const analysis = step ? analysisMetadata(step) : run.pinnedAnalysis;
  const toolCalls = steps.flatMap(({ tool_calls }) => tool_calls);
  const costNotes = Array.from(new Set(whole.steps.flatMap(({ cost_notes = [] }) => cost_notes)));
  const byName = Map.groupBy(steps, ({ step_name }) => step_name);
  const attempts = Math.max(isHit ? 1 : 0, ...[...generators, ...texts].map(({ attempt_number }) => attempt_number));
  const lastOutput = (agent: string) => stepsOf(steps, agent).at(-1)?.output_data ?? null;
  return {
    model: generation?.model_used ?? steps.find(({ model_used }) => model_used)?.model_used ?? run.codeModel,
    prompt,
    prompt_task: prompt,
    generated_code: code,
    code_length: code?.length ?? 0,
    tokens_input,
    tokens_input_estimated: tokens_input,
    tokens_cached,
    tokens_output,
    tokens_output_estimated: tokens_output,
    cost_usd,
    cost_usd_estimated: cost_usd,
    ...(costNotes.length > 0 && { cost_notes: costNotes }),
    /** Milliseconds in which the model wrote code or text. */
    generation_time_ms: timeOf(generators) + timeOf(texts),
    execution_time_ms: timeOf(stepsOf(steps, "E2BExecutor")) + hitMs,
    /** Milliseconds of all agents of the node. */
    total_time_ms: head.execution_time_ms,
    attempts,
    cache_hit: isHit,
    tool_calling_enabled: generators.length > 0,
    tool_calls: toolCalls,
    total_tool_calls: toolCalls.length,
    two_stage_enabled: texts.length === 0 && (!isHit || analysis !== undefined),
    ai_self_determined: stepsOf(steps, "InputAnalyzer").length > 0 || step !== undefined,
    stages_used: analysis ? 2 : 1,
    analysis_metadata: analysis ?? null,
    input_analysis: lastOutput("InputAnalyzer"),
    data_analysis: analysis ? { analysis_code: analysis.analysis_code, ...members(analysis.analysis_result) } : null,
    code_generation: generation && texts.length === 0 ? writtenBy(generation) : null,
    code_validation: lastOutput("CodeValidator"),
    output_validation: lastOutput("OutputValidator"),
    errors: steps
      .filter(hasFailed)
      .map(({ attempt_number: attempt, agent_name, error_message: error }) => ({ attempt, agent_name, error })),
    /** Milliseconds of the steps by agent name. */
    timings: Object.fromEntries(Array.from(byName, ([name, runs]) => [name, timeOf(runs)])) as Record<string, number>,
    ...endOf(run, attempts),
  };
}

const textWriter = "TextWriter";

/** Returns the steps of the last attempt of the node. That attempt produced the outcome. */
function lastAttempt(steps: readonly TraceStep[]): readonly TraceStep[] {
  const isEnd = ({ agent_name }: TraceStep) => agent_name === nodeAttempt.agent_name;
  const before = steps.findLastIndex((step, i) => isEnd(step) && i < steps.length - 1);
  return steps.slice(before + 1).filter((step) => !isEnd(step));
}

/** Returns the status of the node, and for a failed node also its attempts and its error. */
function endOf(run: AiRun, attempts: number) {
  const isFailed = run.head.status === "failed";
  const failure = attempts >= maxAttempts ? ("failed_after_retries" as const) : ("failed" as const);
  return defined({
    status: isFailed ? failure : ("success" as const),
    all_attempts: isFailed ? attemptsIn(run) : undefined,
    final_error: isFailed ? run.error : undefined,
  });
}

/**
 * Returns the code and the error of each attempt. Attempt 0 is pinned code. An attempt without a failed step gets the
 * error of the node.
 */
function attemptsIn({ head, steps, code, error: finalError }: AiRun) {
  const ofNode = { error_class: head.error_class ?? "NodeFailed", error: finalError };
  if (head.cache_hit) return [{ attempt: 0, code, ...ofNode }];
  const own = steps.filter(({ agent_name }) => agent_name !== "InputAnalyzer" && agent_name !== "DataAnalyzer");
  return Array.from(
    Map.groupBy(own, ({ attempt_number }) => attempt_number),
    ([attempt, run]) => ({
      attempt,
      code: run.findLast(({ generated_code }) => generated_code !== null)?.generated_code ?? null,
      ...(errorOf(run.findLast(hasFailed)) ?? ofNode),
    }),
  );
}

/**
 * Returns the error of a failed step. A step without an error class records a fault that an agent found in an answer or
 * in code.
 */
function errorOf(failed: TraceStep | undefined) {
  if (!failed || failed.error_message === null) return undefined;
  const { error_class } = members(failed.output_data) as { error_class?: unknown };
  return { error_class: typeof error_class === "string" ? error_class : "NodeFailed", error: failed.error_message };
}

function writtenBy({ generated_code: code, tool_calls, model_used: model, output_data }: TraceStep) {
  return { code, tool_calls, model, ...members(output_data) };
}

/**
 * Returns the facts about an analysis from its step. The time of the step covers the model and the run of the code. So
 * the time of the model is the time of the step minus the time of the run.
 */
function analysisMetadata({ generated_code, output_data, execution_time_ms, run_time_ms = 0 }: TraceStep) {
  return {
    analysis_code: generated_code,
    analysis_result: output_data,
    generation_time_ms: Math.max(0, execution_time_ms - run_time_ms),
    execution_time_ms: run_time_ms,
  };
}

function stepsOf(steps: readonly TraceStep[], agent: string): TraceStep[] {
  return steps.filter(({ agent_name }) => agent_name === agent);
}

function timeOf(steps: readonly TraceStep[]): number {
  return steps.reduce((sum, { execution_time_ms }) => sum + execution_time_ms, 0);
}

function hasFailed({ status }: TraceStep): boolean {
  return status === "failed";
}

function members(value: unknown): object {
  if (value === null || value === undefined) return {};
  return typeof value === "object" && !Array.isArray(value) ? value : { result: value };
}

/** Finds the code that nodes of a workflow version ran, written by hand or by a model. */
export class ToldCode {
  readonly #ports: Ports;
  readonly #executors: ReadonlyMap<string, Executor>;
  readonly #locked: Readonly<Record<string, LockedCode>>;

  constructor(ports: Ports, version: WorkflowVersion | undefined) {
    this.#ports = ports;
    this.#executors = version ? executorsIn(version) : new Map();
    this.#locked = version?.workflow.lock ?? {};
  }

  /** Returns whether a model writes the node's code. */
  isWritten({ node_id }: Head): boolean {
    return this.#executors.get(node_id)?.kind === "prompt";
  }

  /** Returns whether a model writes the node's code or its value. */
  isAsked({ node_id, code }: Head): boolean {
    const kind = this.#executors.get(node_id)?.kind;
    // A text node with code is an agent whose code ran.
    return kind === "prompt" || (kind === "text" && code === null);
  }

  /**
   * Returns the code that the entry's node ran. Handwritten code is in the definition. Code that a model wrote is in
   * the entry, or in the lock of the workflow.
   */
  async of(entry: StoredEntry, head: Head): Promise<string | null> {
    if (head.code === null) return null;
    const known = codeInDefinition(this.#executors.get(head.node_id));
    if (known) return known.code;
    return (await contentOrNull(this.#ports, entry, head, "code")) ?? this.#lockedOf(head)?.code ?? null;
  }

  /** Returns the prompt of a node that ran no code. A trace shows the prompt in place of code. */
  promptOf({ node_id, code }: Head): string | null {
    const executor = this.#executors.get(node_id);
    return executor && executor.kind !== "code" && code === null ? executor.prompt : null;
  }

  /** Returns the facts about the models of a node; null for a node with handwritten code. */
  async metadata(entry: StoredEntry, head: Head, run: Pick<AiRun, "steps" | "code" | "error">) {
    const executor = this.#executors.get(head.node_id);
    if (executor?.kind === "text") {
      // The step of the model's first answer has recorded the facts about the prompt.
      const [first] = stepsOf(lastAttempt(run.steps), textWriter);
      return {
        ...aiMetadata({ ...run, head, prompt: executor.prompt, codeModel: null }),
        ...members(first?.input_data),
      };
    }
    if (executor?.kind !== "prompt") return null;
    const codeModel = this.#lockedOf(head)?.model ?? null;
    const pinnedAnalysis = await this.#analysisOf(entry, head);
    return aiMetadata({ ...run, head, prompt: executor.prompt, codeModel, ...(pinnedAnalysis && { pinnedAnalysis }) });
  }

  /** Returns the facts about the analysis that ran before pinned code. */
  async #analysisOf(entry: StoredEntry, head: Head): Promise<AnalysisMetadata | undefined> {
    if (head.analysis === undefined) return undefined;
    const locked = this.#locked[head.node_id];
    const lockedCode = locked?.analysisHash === head.analysis ? locked.analysis : undefined;
    const code = (await contentOrNull(this.#ports, entry, head, "analysis_code")) ?? lockedCode ?? null;
    const found = await contentOrNull(this.#ports, entry, head, "analysis");
    const { result = null, execution_time_ms = 0 } = found === null ? {} : JSON.parse(found);
    return { analysis_code: code, analysis_result: result, generation_time_ms: 0, execution_time_ms };
  }

  #lockedOf({ node_id, code }: Head): LockedCode | undefined {
    const locked = this.#locked[node_id];
    return locked && sha256(locked.code) === code ? locked : undefined;
  }
}

function executorsIn({ workflow }: WorkflowVersion): Map<string, Executor> {
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  return new Map(nodes.flatMap((node) => ("executor" in node ? [[node.id, node.executor]] : [])));
}
