import type { CodeResult, JournalStep, PipelineMeans, PromptTask, StepDraft, ToolCall } from "@nova/engine";
import { maskValue } from "@nova/engine";
import type { CodeFinding, ContextShape, NodeFacts } from "@nova/python";
import type { ModelChoice, PromptExecutor } from "@nova/workflow";
import type { Failure } from "../failures/failure.ts";
import type { guidesFor } from "../knowledge/guides.ts";
import type { createPinnedCodes, ProvenCode } from "../lock/pinned-codes.ts";
import type { Models } from "../model/models.ts";
import type { Example } from "../precedents/closest-examples.ts";
import { promptLimits, resultLimits, type Summary, shapeOf, summarise } from "../schema/summary.ts";

/** The state of a node while its code is written. The whole state follows from the task and the recorded steps. */
export interface NodeRun extends ModelRun {
  readonly task: PromptTask;
  readonly executor: PromptExecutor;
  readonly means: PipelineMeans;
  readonly parts: PipelineParts;
  readonly shape: ContextShape;
  analysis: Analysis | null;
  hasFollowedAnalysis: boolean;
  failures: Failure[];
  recall: Recall | null;
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
  embedding?: number[];
  spent: { tokens: number; usd: number };
  /** Data about the embedding, for the same step that records the costs of the embedding. */
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

/** The data of a node that a model call needs. */
export interface ModelRun {
  readonly task: Pick<PromptTask, "node" | "client" | "version" | "mask" | "earlierUsd" | "spentUsd">;
  readonly executor: { model?: ModelChoice; maxCostUsd?: number };
  readonly means: Pick<PipelineMeans, "journal" | "spentBesideUsd" | "monthBudget" | "timeLeftMs" | "signal" | "now">;
  readonly parts: Pick<PipelineParts, "models" | "defaultModel" | "clock">;
  spent: ProvenCode["cost"];
}

const agents = {
  InputAnalyzer: { step_number: 1, step_name: "input_analysis" },
  DataAnalyzer: { step_number: 2, step_name: "data_analysis" },
  CodeGenerator: { step_number: 3, step_name: "code_generation" },
  CodeValidator: { step_number: 4, step_name: "code_validation" },
  E2BExecutor: { step_number: 5, step_name: "code_execution" },
  OutputValidator: { step_number: 6, step_name: "output_validation" },
  TextWriter: { step_number: 1, step_name: "text_generation" },
} as const;

type AgentName = keyof typeof agents;

/** The result of an agent; absent fields get defaults. */
export type StepResult = Pick<StepDraft, "status" | "input_data" | "output_data"> &
  Partial<Omit<StepDraft, "step_number" | "step_name" | "agent_name" | "attempt_number" | "execution_time_ms">>;

/**
 * Returns the agent's next step: the step that an earlier delivery recorded, or a new step from `act`. Adds the costs
 * of the step to the costs of this node so far.
 */
export async function takeStep(
  run: ModelRun,
  agent: AgentName,
  attempt: number,
  act: (journal: number) => Promise<StepResult>,
): Promise<JournalStep> {
  const { means, task, spent } = run;
  const step = await means.journal.next(async (journal) => {
    const began = means.now();
    const deed = await act(journal);
    return buildDraft(agent, attempt, deed, means.now() - began, (text) => task.mask(text));
  });
  spent.usd += step.cost_usd;
  spent.tokens_input += step.tokens_input;
  spent.tokens_cached += step.tokens_cached;
  spent.tokens_output += step.tokens_output;
  return step;
}

function buildDraft(
  agent: AgentName,
  attempt: number,
  deed: StepResult,
  tookMs: number,
  mask: (text: string) => string,
): StepDraft {
  const { traceback, logs, prompt, answer, error_message, generated_code, result, ...fields } = deed;
  const maskText = (text: string | null | undefined) => (text == null ? null : mask(text));
  return {
    ...agents[agent],
    agent_name: agent,
    attempt_number: attempt,
    sandbox_id: null,
    model_used: null,
    tokens_input: 0,
    tokens_cached: 0,
    tokens_output: 0,
    cost_usd: 0,
    ...fields,
    input_data: maskValue(deed.input_data, mask),
    output_data: maskValue(deed.output_data, mask),
    tool_calls: maskValue(deed.tool_calls ?? [], mask) as ToolCall[],
    generated_code: maskText(generated_code),
    error_message: maskText(error_message),
    ...(traceback && { traceback: mask(traceback) }),
    ...(logs && { logs: mask(logs) }),
    ...(prompt && { prompt: mask(prompt) }),
    ...(answer && { answer: mask(answer) }),
    // The changes of judged code become the node's result and must stay as they are, so only the logs are masked.
    ...(result && { result: { ...result, logs: mask(result.logs) } }),
    execution_time_ms: Math.round(tookMs),
  };
}

export interface PipelineParts {
  models: Models;
  /**
   * Knowledge of the code generator: guides, which its prompt contains, and documentation, which it searches with a
   * tool.
   */
  knowledge: {
    guidesFor: typeof guidesFor;
    /** Searches the docstrings of a library. `template` is the sandbox template in which the code runs. */
    searchDocumentation(library: string, query: string, template?: string): { text: string; found: unknown };
    /**
     * Code that worked for the closest earlier tasks of the workflow. `embedding` is the embedding of the task's
     * prompt.
     */
    earlierExamples(task: PromptTask, embedding: readonly number[]): Promise<Example[]>;
  };
  pinned: ReturnType<typeof createPinnedCodes>;
  check(source: string, about: NodeFacts): Promise<CodeFinding[]>;
  /** Model for roles without a model in the node or workflow (`DEFAULT_MODEL`). */
  defaultModel?: string;
  /** pip names of the sandbox template's packages. */
  packages: readonly string[];
  clock: { now(): number };
}

export function contextForModel({ task, executor }: NodeRun): Summary {
  return summarise(task.input, { ...promptLimits, samples: executor.samples }, task);
}

/**
 * Returns the node's input for the record of a step. It is shortened, because the chain already has the whole input.
 */
export function contextForRecord({ task }: NodeRun): Summary {
  return summarise(task.input, resultLimits, task);
}

const [maxKeys, longestKey] = [200, 200];

/** Returns the keys of the node's context. */
export function contextKeys({ task: { input, mask } }: NodeRun): string[] {
  const keys = input.slice(0, maxKeys).map(({ key }) => mask(key).slice(0, longestKey));
  return input.length > keys.length ? [...keys, `... ${input.length - keys.length} more`] : keys;
}

export function packagesOf({ task, parts }: NodeRun): string[] {
  return [...parts.packages, ...task.version.workflow.requirements];
}

/** Returns the values of the edges that leave a decision. */
export function edgeValues({ task: { node, edges } }: NodeRun): unknown[] | undefined {
  return node.type === "decision" ? edges.map(({ condition }) => condition ?? "default") : undefined;
}

type Success = CodeResult & { status: "success" };

/** Returns the changes of code for the record of its step. */
export function changesForRecord({ task }: NodeRun, result: Success): Record<string, Summary> {
  const decision = result.set.find(({ key }) => key === "branch_decision");
  return {
    changes: summarise(result.set, resultLimits, task),
    deleted: result.delete,
    ...(task.node.type === "decision" && decision && { decision: summarise([decision], resultLimits, task) }),
  };
}

export function resultForModel({ task, executor }: NodeRun, result: Success): Summary {
  return summarise(result.set, { ...resultLimits, samples: executor.samples }, task);
}
