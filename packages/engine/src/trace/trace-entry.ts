import {
  defined,
  type Executor,
  type LockedCode,
  type Node,
  nodeIndex,
  type RawJson,
  type RunErrorClass,
} from "@nova/workflow";
import { nodeAttempt, type StepRecord } from "../attempt/retry.ts";
import { contentOrNull, contentText, type Head, unlessErased } from "../chain/entry.ts";
import { sumOfSpendings } from "../chain/spending.ts";
import { type StepText, stepFrom, stepTexts } from "../chain/step-record.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { StepContentName, StoredEntry, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { StepDraft, WorkflowVersion } from "../ports/pipeline.ts";
import { sha256 } from "../sha256.ts";

/** The public form of one entry of the chain of work; field names are public. Only `full` includes contexts. */
export interface TraceEntry extends ReturnType<typeof publicHead> {
  error_message: string | null;
  traceback: string | null;
  changes: { set: RawJson; delete: string[] };
  hash: string;
  ai_metadata: AiMetadata | null;
  steps: TraceStep[];
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
  /** Set for nodes that run another workflow; only `full` includes `entries`. */
  child?: { execution_id: string; workflow: string; version: number; entries?: TraceEntry[] };
  /** Set for the link of a fork: the entries of its branches, which precede the next entry. */
  branches?: TraceBranch[];
}

/** A branch of a fork, named by its first node, or an item of a map, named by its number. It may not have started. */
export interface TraceBranch {
  branch: string;
  scope: string;
  entries: TraceEntry[];
}

/** Copies the public fields of a head. */
export function publicHead(head: Head) {
  const { execution_id, seq, scope, node_id, node_type, status, decision_result, path_taken, execution_time_ms } = head;
  const { attempt, failed_deliveries, sandbox_id, timestamp, prev, code, addresses, error_class = null } = head;
  const { reused_from: reused, edited, origin } = head;
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
    /** Deliveries that failed before the first attempt started: there was no sandbox, or their Lambda died. */
    failed_deliveries,
    sandbox_id,
    timestamp,
    prev,
    code_hash: code,
    /** The execution and link whose outcome this entry reuses; the node did not run here. */
    reused_from: reused ? { execution_id: reused.execution, scope: reused.scope, seq: reused.seq } : null,
    /** Link 0 names the first run of all restarts, and this run's place in it; absent in the first run. */
    origin: origin && { execution_id: origin.execution, place: origin.place },
    /** The author and time of an outcome that was written by hand; the node did not run. */
    edited,
    /** Addresses that the host names resolved to, for ports other than 80 and 443. */
    resolved_hosts: addresses,
  });
}

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

/** Facts about a prompt or text node, computed from its entry and steps; field names are public. */
export type AiMetadata = ReturnType<typeof aiMetadata> & Partial<TextMetadata>;

/** Facts about the prompt of a text node. Secrets are masked and long texts are cut. */
interface TextMetadata {
  /** The prompt with its references replaced. */
  processed_prompt: string;
  /** Inserted values, by reference without its braces. */
  processed_node_values: Record<string, string>;
  /** How each value was found. */
  references: unknown[];
  /** References without a value. */
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
  /** The model that wrote the code, if no step names it. */
  codeModel: string | null;
  error: string | null;
  steps: readonly TraceStep[];
  /** The analysis that ran before pinned code. The steps do not contain it. */
  pinnedAnalysis?: AnalysisMetadata;
}

/** The maximum of attempts that a pipeline makes at the code of one node. */
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
    /** Time of the model that wrote the code. */
    generation_time_ms: timeOf(generators) + timeOf(texts),
    execution_time_ms: timeOf(stepsOf(steps, "E2BExecutor")) + hitMs,
    /** Time of all agents. */
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
    /** Milliseconds by name of the step. */
    timings: Object.fromEntries(Array.from(byName, ([name, runs]) => [name, timeOf(runs)])) as Record<string, number>,
    ...endOf(run, attempts),
  };
}

const textWriter = "TextWriter";

/** The facts about the prompt that the step of the first answer recorded. */
function textMetadata(steps: readonly TraceStep[]): Partial<TextMetadata> {
  return members(stepsOf(lastAttempt(steps), textWriter)[0]?.input_data);
}

/** The steps of the last attempt of a node with retries, which produced the outcome. */
function lastAttempt(steps: readonly TraceStep[]): readonly TraceStep[] {
  const isEnd = ({ agent_name }: TraceStep) => agent_name === nodeAttempt.agent_name;
  const before = steps.findLastIndex((step, i) => isEnd(step) && i < steps.length - 1);
  return steps.slice(before + 1).filter((step) => !isEnd(step));
}

/** Status of the node; a failed node also has its attempts and its error. */
function endOf(run: AiRun, attempts: number) {
  const isFailed = run.head.status === "failed";
  const failure = attempts >= maxAttempts ? ("failed_after_retries" as const) : ("failed" as const);
  return defined({
    status: isFailed ? failure : ("success" as const),
    all_attempts: isFailed ? attemptsIn(run) : undefined,
    final_error: isFailed ? run.error : undefined,
  });
}

/** Code and error of each attempt; attempt 0 is pinned code. The last one may carry the error of the node. */
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

/** The class is `NodeFailed` if the step names none: then an agent found the fault in an answer or in code. */
function errorOf(failed: TraceStep | undefined) {
  if (!failed || failed.error_message === null) return undefined;
  const { error_class } = members(failed.output_data) as { error_class?: unknown };
  return { error_class: typeof error_class === "string" ? error_class : "NodeFailed", error: failed.error_message };
}

function writtenBy({ generated_code: code, tool_calls, model_used: model, output_data }: TraceStep) {
  return { code, tool_calls, model, ...members(output_data) };
}

/** Metadata of an analysis. Its step includes the model's time and the run, so the model's time is the difference. */
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

/** The code of the nodes of a version, written by hand or by a model. */
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

  /** The definition holds code written by hand. The entry or the workflow's lock holds code that a model wrote. */
  async of(entry: StoredEntry, head: Head): Promise<string | null> {
    if (head.code === null) return null;
    const executor = this.#executors.get(head.node_id);
    if (executor?.kind === "code") return executor.code;
    return (await contentOrNull(this.#ports, entry, head, "code")) ?? this.#lockedOf(head)?.code ?? null;
  }

  /** The prompt of a prompt or text node without code, which a trace shows in place of code. */
  promptOf({ node_id, code }: Head): string | null {
    const executor = this.#executors.get(node_id);
    return executor && executor.kind !== "code" && code === null ? executor.prompt : null;
  }

  /** Null for code written by hand. */
  async metadata(
    entry: StoredEntry,
    head: Head,
    run: Pick<AiRun, "steps" | "code" | "error">,
  ): Promise<AiMetadata | null> {
    const executor = this.#executors.get(head.node_id);
    if (executor?.kind === "text")
      return { ...aiMetadata({ ...run, head, prompt: executor.prompt, codeModel: null }), ...textMetadata(run.steps) };
    if (executor?.kind !== "prompt") return null;
    const codeModel = this.#lockedOf(head)?.model ?? null;
    const pinnedAnalysis = await this.#analysisOf(entry, head);
    return aiMetadata({ ...run, head, prompt: executor.prompt, codeModel, ...(pinnedAnalysis && { pinnedAnalysis }) });
  }

  /** The analysis that ran before pinned code. */
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
