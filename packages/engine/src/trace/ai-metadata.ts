import type { Head } from "../chain/head.ts";
import { sumOfSpendings } from "../chain/spending.ts";
import type { ToolCall } from "../ports/pipeline.ts";
import { nodeAttempt } from "../protocol/attempts.ts";
import type { TraceStep } from "./trace-step.ts";

/** What is told of a prompt node in one piece; field names are public. All of it follows from entry and steps. */
export interface AiMetadata {
  model: string | null;
  prompt_task: string;
  generated_code: string | null;
  code_length: number;
  tokens_input: number;
  tokens_input_estimated: number;
  tokens_cached: number;
  tokens_output: number;
  tokens_output_estimated: number;
  cost_usd: number;
  cost_usd_estimated: number;
  /** Of the model that wrote the code, and of the runs of that code. */
  generation_time_ms: number;
  execution_time_ms: number;
  /** Of every agent. */
  total_time_ms: number;
  attempts: number;
  cache_hit: boolean;
  tool_calling_enabled: boolean;
  tool_calls: ToolCall[];
  total_tool_calls: number;
  two_stage_enabled: boolean;
  ai_self_determined: boolean;
  stages_used: number;
  analysis_metadata: AnalysisMetadata | null;
  input_analysis: unknown;
  data_analysis: unknown;
  code_generation: unknown;
  code_validation: unknown;
  output_validation: unknown;
  errors: { attempt: number; agent_name: string; error: string | null }[];
  /** Milliseconds by name of the step. */
  timings: Record<string, number>;
  status: "success" | "failed" | "failed_after_retries";
  /** Of a failed node. */
  all_attempts?: Attempt[];
  final_error?: string | null;
}

export interface AnalysisMetadata {
  analysis_code: string | null;
  analysis_result: unknown;
  generation_time_ms: number;
  execution_time_ms: number;
}

export interface Attempt {
  attempt: number;
  code: string | null;
  error: string | null;
}

/** What the metadata are made of. */
export interface AiRun {
  head: Pick<Head, "status" | "cache_hit" | "execution_time_ms">;
  /** The node's prompt. */
  prompt: string;
  /** The code that ran, or was written last. */
  code: string | null;
  /** The model that wrote it, where no step knows. */
  codeModel: string | null;
  error: string | null;
  steps: readonly TraceStep[];
  /** Of a hit: the analysis that ran before its code, of which no step tells. */
  pinnedAnalysis?: AnalysisMetadata;
}

/** Attempts of a pipeline at the code of one node. */
const maxAttempts = 3;

export function aiMetadata(whole: AiRun): AiMetadata {
  const run = { ...whole, steps: lastAttempt(whole.steps) };
  const { head, prompt, code, steps } = run;
  const isHit = head.cache_hit === true;
  const hitMs = isHit ? head.execution_time_ms - timeOf(steps) - (run.pinnedAnalysis?.execution_time_ms ?? 0) : 0;
  const spent = sumOfSpendings(whole.steps);
  const generators = stepsOf(steps, "CodeGenerator");
  const step = stepsOf(steps, "DataAnalyzer").at(-1);
  const analysis = step ? analysisMetadata(step) : run.pinnedAnalysis;
  const toolCalls = steps.flatMap(({ tool_calls }) => tool_calls);
  const attempts = Math.max(isHit ? 1 : 0, ...generators.map(({ attempt_number }) => attempt_number));
  return {
    model: generators.at(-1)?.model_used ?? steps.find(({ model_used }) => model_used)?.model_used ?? run.codeModel,
    prompt_task: prompt,
    generated_code: code,
    code_length: code?.length ?? 0,
    tokens_input: spent.tokens_input,
    tokens_input_estimated: spent.tokens_input,
    tokens_cached: spent.tokens_cached,
    tokens_output: spent.tokens_output,
    tokens_output_estimated: spent.tokens_output,
    cost_usd: spent.cost_usd,
    cost_usd_estimated: spent.cost_usd,
    generation_time_ms: timeOf(generators),
    execution_time_ms: timeOf(stepsOf(steps, "E2BExecutor")) + hitMs,
    total_time_ms: head.execution_time_ms,
    attempts,
    cache_hit: isHit,
    tool_calling_enabled: generators.length > 0,
    tool_calls: toolCalls,
    total_tool_calls: toolCalls.length,
    two_stage_enabled: !isHit || analysis !== undefined,
    ai_self_determined: stepsOf(steps, "InputAnalyzer").length > 0 || step !== undefined,
    stages_used: analysis ? 2 : 1,
    analysis_metadata: analysis ?? null,
    ...agentResults(steps, analysis),
    errors: steps.filter(hasFailed).map(errorOf),
    timings: timings(steps),
    ...endOf(run, attempts),
  };
}

/** Of a node that was tried several times, the steps of the attempt that counted; its costs are of all. */
function lastAttempt(steps: readonly TraceStep[]): readonly TraceStep[] {
  const isEnd = ({ agent_name }: TraceStep) => agent_name === nodeAttempt.agent_name;
  const before = steps.findLastIndex((step, i) => isEnd(step) && i < steps.length - 1);
  return steps.slice(before + 1).filter((step) => !isEnd(step));
}

function endOf(run: AiRun, attempts: number) {
  const { head, error } = run;
  if (head.status === "success") return { status: "success" } as const;
  const status = attempts >= maxAttempts ? "failed_after_retries" : "failed";
  return { status, all_attempts: attemptsIn(run), final_error: error } as const;
}

/**
 * Code and error of each attempt; 0 is pinned code, of which without other attempts no step tells. The last one of a
 * node that was stopped has the error of the node.
 */
function attemptsIn({ head, steps, code, error: finalError }: AiRun): Attempt[] {
  if (head.cache_hit) return [{ attempt: 0, code, error: finalError }];
  const own = steps.filter(({ agent_name }) => agent_name !== "InputAnalyzer" && agent_name !== "DataAnalyzer");
  return Array.from(
    Map.groupBy(own, ({ attempt_number }) => attempt_number),
    ([attempt, run]) => ({
      attempt,
      code: run.findLast(({ generated_code }) => generated_code !== null)?.generated_code ?? null,
      error: run.findLast(hasFailed)?.error_message ?? finalError,
    }),
  );
}

function agentResults(steps: readonly TraceStep[], analysis: AnalysisMetadata | undefined) {
  const last = (agent: string) => stepsOf(steps, agent).at(-1);
  const generation = last("CodeGenerator");
  return {
    input_analysis: last("InputAnalyzer")?.output_data ?? null,
    data_analysis: analysis ? { analysis_code: analysis.analysis_code, ...members(analysis.analysis_result) } : null,
    code_generation: generation
      ? {
          code: generation.generated_code,
          tool_calls: generation.tool_calls,
          model: generation.model_used,
          ...members(generation.output_data),
        }
      : null,
    code_validation: last("CodeValidator")?.output_data ?? null,
    output_validation: last("OutputValidator")?.output_data ?? null,
  };
}

/** Of an analysis the model and the run are one step: what is not the run is the model. */
function analysisMetadata({ generated_code, output_data, execution_time_ms, run_time_ms = 0 }: TraceStep) {
  return {
    analysis_code: generated_code,
    analysis_result: output_data,
    generation_time_ms: Math.max(0, execution_time_ms - run_time_ms),
    execution_time_ms: run_time_ms,
  };
}

function timings(steps: readonly TraceStep[]): Record<string, number> {
  const byName = Map.groupBy(steps, ({ step_name }) => step_name);
  return Object.fromEntries(Array.from(byName, ([name, runs]) => [name, timeOf(runs)]));
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

function errorOf({ attempt_number: attempt, agent_name, error_message: error }: TraceStep) {
  return { attempt, agent_name, error };
}

function members(value: unknown): object {
  if (value === null || value === undefined) return {};
  return typeof value === "object" && !Array.isArray(value) ? value : { result: value };
}
