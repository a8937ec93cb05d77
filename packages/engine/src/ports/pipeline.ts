import type {
  Edge,
  HistoryBudget,
  JsonObject,
  LockedCode,
  Member,
  RunErrorClass,
  TaskNode,
  Workflow,
} from "@nova/workflow";
import type { EntryId } from "./chain.ts";
import type { CodeResult } from "./sandboxes.ts";

/** A node whose code a model writes, together with its place in a run. */
export interface PromptTask {
  at: EntryId;
  client: string;
  version: WorkflowVersion;
  node: TaskNode;
  edges: Edge[];
  /** The context that the code reads: the JSON text of each value, with references in place of large parts. */
  input: readonly Member[];
  /** Top-level keys whose values only the code may see. */
  secrets: ReadonlySet<string>;
  /** Top-level keys that belong to credentials. The model sees only the types of their values. */
  credentials: ReadonlySet<string>;
  mask(text: string): string;
  /** Only pinned code may run: no model is ever called. */
  frozen: boolean;
  /** Only code that this execution has proven may run. Code from earlier executions or from the lock does not count. */
  fresh: boolean;
  /** Cost of models in earlier attempts of this node. */
  earlierUsd: number;
  /** Cost of models in this run before this node: in the node's scope, and in branches that were joined into it. */
  spentUsd: number;
}

/**
 * A text node at its place in a run, with the question for its model. References in the question are replaced, and
 * secrets are masked.
 */
export interface TextTask
  extends Pick<PromptTask, "at" | "client" | "version" | "node" | "edges" | "mask" | "earlierUsd" | "spentUsd"> {
  system: string;
  prompt: string;
  /** Describes how the question was made, for the step of the model's first answer. */
  record: unknown;
}

/** One visit of an agent: a text node with tools, with the answers of its model and the results of its calls so far. */
export interface AgentTask extends TextTask {
  tools: readonly AgentToolDefinition[];
  exchanges: readonly Exchange[];
  /** False if the agent has no steps left. Then the model of the agent has to answer. */
  mayCall: boolean;
}

export interface AgentToolDefinition {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  schema: JsonObject;
}

/**
 * An answer of a model that was not final, and what NOVA sent back to the model: the results of its calls, or a text.
 */
export interface Exchange {
  reply: AgentReply;
  results: readonly { id: string; text: string }[];
  say?: string;
}

export interface AgentReply {
  text: string;
  calls: readonly RequestedCall[];
  /** For a reply without calls: the JSON text of the answer, or the reason why the answer does not fit. */
  answer?: { json: string } | { problem: string };
  /**
   * The items of the answer in the provider's own form, for providers that require them unchanged in the next request.
   */
  items?: readonly unknown[];
}

/** A call in the form in which the model wrote it. `arguments` should be JSON but may be any text. */
export interface RequestedCall {
  id: string;
  name: string;
  arguments: string;
}

/** The key under which `Pipeline.converse` returns the `AgentReply`, as JSON. */
export const replyKey = "$reply";

/** Code that was written, proven and stored in an earlier run. */
export interface PinnedCode {
  generation: string;
  code: string;
  /** Code that runs before `code` and analyses the data. `code` reads the result of the analysis. */
  analysis?: string;
}

/**
 * NOVA identifies a run of code by the number of its journal step. Runs of pinned code have no such step, so they have
 * these numbers, which no step has. The number -1 means that no code runs, so it is not among them.
 */
export const pinnedPlaces = { code: 0, analysis: -2 } as const;

/** The analysis that ran before pinned code. */
export interface PinnedAnalysis {
  code: string;
  /** JSON text of the result of the analysis, secrets masked; null if the analysis failed. */
  json: string | null;
}

/** The result of one agent of the pipeline, in the form in which NOVA records it as a step. The fields are public. */
export interface StepDraft {
  /**
   * 1 InputAnalyzer, or the TextWriter of a text node, 2 DataAnalyzer, 3 CodeGenerator, 4 CodeValidator, 5 E2BExecutor,
   * 6 OutputValidator.
   */
  step_number: number;
  step_name: string;
  agent_name: string;
  attempt_number: number;
  /** A summary of the agent's input, without large or secret values. */
  input_data: unknown;
  output_data: unknown;
  generated_code: string | null;
  sandbox_id: string | null;
  model_used: string | null;
  tokens_input: number;
  tokens_cached: number;
  tokens_output: number;
  cost_usd: number;
  /** Notes that say which tokens and costs are estimates, or that the model has no price. Absent if there are none. */
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
  /**
   * The result of the node's code, if it succeeded. A later delivery reads the result here, so it does not need the
   * sandbox.
   */
  result?: CodeResult;
}

export interface ToolCall {
  function: string;
  arguments: Record<string, unknown>;
  found?: unknown;
}

/** A recorded step, without `prompt` and `answer`. `journal` is its position in the journal, from 1. */
export interface JournalStep extends StepDraft {
  journal: number;
  /** A time in ISO 8601. */
  timestamp: string;
}

/**
 * The steps of one entry, in order. The journal returns a recorded step from its record, and the step never runs again.
 */
export interface Journal {
  /**
   * Returns the step at the next position of the journal. If no delivery has recorded that step, `work` produces it.
   */
  next(work: (journal: number) => Promise<StepDraft>): Promise<JournalStep>;
}

/**
 * The outcome of a node, which follows from the result of the node's code. NOVA judges generated code and handwritten
 * code in the same way.
 */
export type Judgement =
  | { status: "success"; set: readonly Member[]; delete: readonly string[]; decision: string | null }
  | Pick<PipelineOutcome & { status: "failed" }, "status" | "class" | "message" | "traceback" | "types">;

/**
 * The functions that the engine gives to a pipeline. The pipeline must not catch infrastructure errors that they throw.
 */
export interface PipelineMeans {
  journal: Journal;
  /**
   * Runs code in the node's sandbox. For one `journal` position, the code starts only once, and a later delivery waits
   * for the same run. The engine adds `extra` to the context and drops it from the result. With `network: false` the
   * code reaches no host, even if the node may reach some. Pinned code runs at `pinnedPlaces`. The returned `code` is
   * the code that ran. It differs from the given code if another delivery got another answer of the model and started
   * its code first.
   */
  execute(
    journal: number,
    code: string,
    options: { timeoutSeconds: number; extra?: readonly Member[]; network?: false },
  ): Promise<{ sandboxId: string; result: CodeResult; code: string }>;
  judge(result: CodeResult): Promise<Judgement>;
  /**
   * Returns the JSON text of a key's value with the contents of its blobs, for checks without a model. Returns null if
   * the text exceeds `maxBytes`.
   */
  valueText(key: string, maxBytes: number): Promise<string | null>;
  /** Returns the US dollars that models have cost so far in other branches and items of the run. */
  spentBesideUsd(): Promise<number>;
  /**
   * Returns what models have cost the client this month, including the steps recorded here; null if the client has no
   * limit.
   */
  monthBudget(): Promise<MonthBudget | null>;
  /** Returns the milliseconds until the node's time is over. */
  timeLeftMs(): number;
  /** Fires when this Lambda has to stop. The pipeline then throws `NodeUnfinished`. */
  signal: AbortSignal;
  now(): number;
}

/** The functions that the engine gives to `Pipeline.answer`, for a question to a model. */
export type TextMeans = Omit<PipelineMeans, "execute" | "judge" | "valueText">;

/**
 * The outcome of a pipeline. `code` is the last code that the model wrote, or null. `analysis` is set if pinned code
 * ran after its analysis.
 */
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
      /** Set if the code raised an exception: the names of its class and base classes. */
      types?: readonly string[];
      logs?: string;
      sandboxId: string | null;
    }
);

/** The fields about code in an outcome that has no code. */
export const noCode = { code: null, cacheHit: false, generation: null, sandboxId: null } as const;

/** Lets models write the code of prompt nodes and the answers of text nodes. Adapters do not know the chain. */
export interface Pipeline {
  /** Returns pinned code for this node and this type of input; null if a model has to write the code. */
  pinned(task: PromptTask): Promise<PinnedCode | null>;
  /** Returns the pinned code with this key, which an earlier delivery of the node has started. */
  generation(task: PromptTask, key: string): Promise<PinnedCode>;
  /** Runs `pinned`. A model writes new code if `pinned` is null, or if the code of `pinned` itself caused a failure. */
  run(task: PromptTask, means: PipelineMeans, pinned: PinnedCode | null): Promise<PipelineOutcome>;
  /**
   * Asks the model of a text node. The outcome sets the answer in the context, and for a decision it chooses the edge.
   */
  answer(task: TextTask, means: TextMeans): Promise<PipelineOutcome>;
  /** Asks the model of an agent once. The outcome sets only `replyKey`. */
  converse(task: AgentTask, means: TextMeans): Promise<PipelineOutcome>;
}

/** The limit and the cost of a calendar month (UTC), in US dollars. */
export interface MonthBudget {
  spentUsd: number;
  limitUsd: number;
}

/** Limits for the cost of models per client. */
export interface Budgets {
  /** Returns the budget of this month; null if the client has no limit. */
  ofMonth(client: string): Promise<MonthBudget | null>;
  /**
   * Records what models have cost so far in a node. Later calls for the same node replace `usd` and never decrease it.
   */
  note(client: string, node: EntryId, usd: number): Promise<void>;
}

/** A published version of a workflow. Only the state of its publication may change. */
export interface WorkflowVersion {
  format: 1;
  workflowId: string;
  version: number;
  hash: string;
  workflow: Workflow;
  template: string;
  stateMachineArn: string;
  /**
   * Counts the events of a run in Step Functions' history, so that a loop continues in a further execution before the
   * history is full. Absent if no loop can need a further execution.
   */
  history?: HistoryBudget;
  /** Set for a draft of a session: the only client that may run it. */
  draftOf?: string;
  createdAt: string;
}

export interface WorkflowStore {
  get(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  /** Reads the version from the store, never from memory, so that a verification sees what is stored now. */
  stored(workflowId: string, version: number): Promise<WorkflowVersion | undefined>;
  latest(workflowId: string): Promise<WorkflowVersion | undefined>;
  /** Stores a new version. Returns false if a version with this number exists. */
  create(version: WorkflowVersion): Promise<boolean>;
  /**
   * Yields the ids of all workflows that have a version, in order, from the first id after `after`. This method reads
   * no definitions.
   */
  ids(after?: string): AsyncIterable<string>;
  /**
   * Yields every version of every workflow. This needs hundreds of reads, so use this method only in background work.
   */
  everyVersion(): AsyncIterable<WorkflowVersion>;
}

/**
 * The stored form (format 1) of code that a model wrote for a node: the fields of a lock entry, and the current status
 * of the code.
 */
export interface Generation extends LockedCode {
  format: 1;
  workflowId: string;
  node: string;
  /** The only client for which the code runs; null if it runs for all clients of the workflow. */
  client: string | null;
  /**
   * `candidate`: no run has proven the code yet; `pinned`: later runs use it; `replaced`: newer code is used instead.
   */
  status: "candidate" | "pinned" | "replaced";
  /**
   * Rounded embedding of the prompt, by which similar tasks find this code. Absent if no embedding model was
   * configured.
   */
  embedding?: number[];
}

/** The store of generated code (DynamoDB). */
export interface GenerationStore {
  /** Returns all code that models wrote for a node, replaced code included, in any order. */
  of(workflowId: string, node: string, client: string | null): Promise<Generation[]>;
  ofWorkflow(workflowId: string): Promise<Generation[]>;
  /** Returns false if the store already has this code under this key. */
  create(generation: Generation): Promise<boolean>;
  /** Changes the mutable fields: status, proof, approval. */
  update(
    generation: Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">,
    changes: Partial<Pick<Generation, "status" | "provenBy" | "approved">>,
  ): Promise<void>;
}
