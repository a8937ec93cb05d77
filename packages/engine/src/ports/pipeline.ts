import type { Edge, HistoryBudget, LockedCode, Member, RunErrorClass, TaskNode, Workflow } from "@nova/workflow";
import type { EntryId } from "./chain.ts";
import type { CodeResult } from "./sandboxes.ts";

/** A node whose code a model writes, at its place in a run. */
export interface PromptTask {
  at: EntryId;
  client: string;
  version: WorkflowVersion;
  node: TaskNode;
  edges: Edge[];
  /** The input of its code: each value's JSON text, large parts as blob references. */
  input: readonly Member[];
  /** Top-level keys whose values only the code may see. */
  secrets: ReadonlySet<string>;
  /** Top-level keys of credentials. The model sees only the types of their values. */
  credentials: ReadonlySet<string>;
  mask(text: string): string;
  /** Only pinned code may run: no model is ever called. */
  frozen: boolean;
  /** Only code that this execution has proven may run. Code from earlier executions or from the lock does not count. */
  fresh: boolean;
  /** Cost of models in earlier attempts of this node. */
  earlierUsd: number;
  /** Cost of models in this run before this node: in its scope, and in branches joined there. */
  spentUsd: number;
}

/** A text node at its place in a run, with the question for its model: references replaced, secrets masked. */
export interface TextTask
  extends Pick<PromptTask, "at" | "client" | "version" | "node" | "edges" | "mask" | "earlierUsd" | "spentUsd"> {
  system: string;
  prompt: string;
  /** The sources of the question, which the step of the first answer records. */
  record: unknown;
}

/** Code that was written, proven and stored in an earlier run. */
export interface PinnedCode {
  generation: string;
  code: string;
  /** Code that analyses the data first; `code` finds its result. */
  analysis?: string;
}

/** The claims of pinned code: places before the journal, which no step has. -1 names no claim at all. */
export const pinnedPlaces = { code: 0, analysis: -2 } as const;

/** The analysis that ran before pinned code. */
export interface PinnedAnalysis {
  code: string;
  /** JSON text of its result, secrets masked; null if it failed. */
  json: string | null;
}

/** A run of an agent, ready to be recorded, with the public fields of a step. */
export interface StepDraft {
  /**
   * 1 InputAnalyzer, or the TextWriter of a text node, 2 DataAnalyzer, 3 CodeGenerator, 4 CodeValidator, 5 E2BExecutor,
   * 6 OutputValidator.
   */
  step_number: number;
  step_name: string;
  agent_name: string;
  attempt_number: number;
  /** A summary without large or secret values. */
  input_data: unknown;
  output_data: unknown;
  generated_code: string | null;
  sandbox_id: string | null;
  model_used: string | null;
  tokens_input: number;
  tokens_cached: number;
  tokens_output: number;
  cost_usd: number;
  /** Notes about tokens and cost that are estimated, or of a model without a price. Absent if there are none. */
  cost_notes?: string[];
  tool_calls: ToolCall[];
  status: "success" | "failed";
  error_message: string | null;
  traceback?: string;
  logs?: string;
  execution_time_ms: number;
  /** The full prompt and answer of the model, secrets masked; stored as contents. */
  prompt?: string;
  answer?: string;
  /** Set if the node's code succeeded: its result, so that a redelivery need not ask the sandbox again. */
  result?: CodeResult;
}

export interface ToolCall {
  function: string;
  arguments: Record<string, unknown>;
  found?: unknown;
}

/** A step read back from the record, without `prompt` and `answer`. `journal`: its place, from 1. */
export interface JournalStep extends StepDraft {
  journal: number;
  /** ISO 8601. */
  timestamp: string;
}

/** The steps of one link, in order. A recorded step is read back, and never runs again. */
export interface Journal {
  /** Returns the step at the next place: the recorded one of any delivery, or the result of `work`. */
  next(work: (journal: number) => Promise<StepDraft>): Promise<JournalStep>;
}

/** The meaning of the code's result for the node. Code written by hand is judged in the same way. */
export type Judgement =
  | { status: "success"; set: readonly Member[]; delete: readonly string[]; decision: string | null }
  | {
      status: "failed";
      class: RunErrorClass;
      message: string;
      traceback?: string;
      types?: readonly string[] | undefined;
    };

/** The functions that the engine gives to a pipeline, which must not catch their errors of the infrastructure. */
export interface PipelineMeans {
  journal: Journal;
  /**
   * Runs code in the node's sandbox, once per journal place; a redelivery attaches to it. `extra` is added to the
   * context and dropped from the result. With `network: false` the code reaches no host, even if the node may reach some. Pinned
   * code runs at `pinnedPlaces`. The returned `code` is the one that ran: before a step is recorded, another delivery
   * may have started code of its own model.
   */
  execute(
    journal: number,
    code: string,
    options: { timeoutSeconds: number; extra?: readonly Member[]; network?: false },
  ): Promise<{ sandboxId: string; result: CodeResult; code: string }>;
  judge(result: CodeResult): Promise<Judgement>;
  /** Text of a whole value, including blobs, for checks without a model; null above `maxBytes`. */
  valueText(key: string, maxBytes: number): Promise<string | null>;
  /** US dollars that models have cost so far in other branches and items of the run. */
  spentBesideUsd(): Promise<number>;
  /** The client's cost of models this month, including steps recorded here; null without a limit. */
  monthBudget(): Promise<MonthBudget | null>;
  /** Milliseconds until the node's budget is spent. */
  timeLeftMs(): number;
  /** Fires when this Lambda has to stop; then throw `NodeUnfinished`. */
  signal: AbortSignal;
  now(): number;
}

/** The functions that the engine gives for a question to a model. */
export type TextMeans = Omit<PipelineMeans, "execute" | "judge" | "valueText">;

/** The outcome of a pipeline. `code` is the last code that was written, or null; `analysis` is set for a cache hit. */
export type PipelineOutcome = {
  code: string | null;
  cacheHit: boolean;
  generation: string | null;
  analysis?: PinnedAnalysis;
} & (
  | { status: "success"; result: CodeResult & { status: "success" }; sandboxId: string | null }
  | {
      status: "failed";
      class: RunErrorClass;
      message: string;
      traceback?: string;
      /** Set for an exception: its class and base classes. */
      types?: readonly string[];
      logs?: string;
      sandboxId: string | null;
    }
);

/** The code fields of an outcome without code. */
export const noCode = { code: null, cacheHit: false, generation: null, sandboxId: null } as const;

/** Writes the code of prompt nodes and the answers of text nodes with models. Adapters do not know the chain. */
export interface Pipeline {
  /** Pinned code for this node that fits this input; null if a model has to write it. */
  pinned(task: PromptTask): Promise<PinnedCode | null>;
  /** The pinned code with which an earlier delivery started. */
  generation(task: PromptTask, key: string): Promise<PinnedCode>;
  /** Runs pinned code. It writes new code if there is none, or if the pinned code failed by its own fault. */
  run(task: PromptTask, means: PipelineMeans, pinned: PinnedCode | null): Promise<PipelineOutcome>;
  /** Asks the model of a text node. The result sets the answer, and for a decision the edge. */
  answer(task: TextTask, means: TextMeans): Promise<PipelineOutcome>;
}

/** US dollars of a calendar month (UTC). */
export interface MonthBudget {
  spentUsd: number;
  limitUsd: number;
}

/** Limits for the cost of models per client. */
export interface Budgets {
  /** The budget of this month; null if there is no limit. */
  ofMonth(client: string): Promise<MonthBudget | null>;
  /** Records the cost of a node so far. The caller repeats it with values that never decrease. */
  note(client: string, node: EntryId, usd: number): Promise<void>;
}

/** A published version. Only the state of its publication may change. */
export interface WorkflowVersion {
  format: 1;
  workflowId: string;
  version: number;
  hash: string;
  workflow: Workflow;
  template: string;
  stateMachineArn: string;
  /** Set if its loops may continue in further executions: how a run counts the events of its history. */
  history?: HistoryBudget;
  /** Set for a draft: the client that may run it. Other clients cannot run it. */
  draftOf?: string;
  createdAt: string;
}

export interface WorkflowStore {
  get(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  /** The version as it is stored now, ignoring versions in memory, for verification. */
  stored(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  latest(workflowId: string): Promise<WorkflowVersion | undefined>;
  /** Returns false if this version number exists. */
  create(version: WorkflowVersion): Promise<boolean>;
  /** Ids of all workflows with a version that come after `after`, in order, without reading definitions. */
  ids(after?: string): AsyncIterable<string>;
  /** Every version of every workflow. It needs hundreds of reads, so use it only in background work. */
  everyVersion(): AsyncIterable<WorkflowVersion>;
}

/** Stored code that a model wrote for a node (format 1): the fields of a lock, and its status since. */
export interface Generation extends LockedCode {
  format: 1;
  workflowId: string;
  node: string;
  /** Null if it serves every client of the workflow. */
  client: string | null;
  /** `candidate`: not yet proven by a run; `pinned`: it runs; `replaced`: kept for its history. */
  status: "candidate" | "pinned" | "replaced";
  /** Embedding of the prompt, rounded, to find it for similar tasks. Absent if no embedding model was configured. */
  embedding?: number[];
}

/** Generated code (DynamoDB). */
export interface GenerationStore {
  /** In any order, including replaced ones. */
  of(workflowId: string, node: string, client: string | null): Promise<Generation[]>;
  ofWorkflow(workflowId: string): Promise<Generation[]>;
  /** Returns false if this key and code exist. */
  create(generation: Generation): Promise<boolean>;
  /** Changes the mutable fields: status, proof, approval. */
  update(
    generation: Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">,
    changes: Partial<Pick<Generation, "status" | "provenBy" | "approved">>,
  ): Promise<void>;
}
