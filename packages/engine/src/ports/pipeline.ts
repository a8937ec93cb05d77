import type { Edge, Member, RunErrorClass, TaskNode } from "@nova/workflow";
import type { LinkId } from "./chain.ts";
import type { CodeResult } from "./sandboxes.ts";
import type { WorkflowVersion } from "./workflows.ts";

/** A node whose code a model writes, at its place in a run. */
export interface PromptTask {
  at: LinkId;
  client: string;
  version: WorkflowVersion;
  node: TaskNode;
  /** The edges that leave it. */
  edges: Edge[];
  /** What its code will find: each value's JSON text, large parts as blob references. */
  input: readonly Member[];
  /** Top-level keys whose values nobody but the code may see. */
  secrets: ReadonlySet<string>;
  /** Top-level keys of credentials, of whose values nobody but the code may know more than the type. */
  credentials: ReadonlySet<string>;
  /** The text with the values of secrets masked. */
  mask(text: string): string;
  /** Only pinned code may run: no model is ever called. */
  frozen: boolean;
  /** Only code that this very execution has proven may run: whatever was kept before, and what is locked, does not count. */
  fresh: boolean;
  /** What models have cost in earlier attempts of this node. */
  earlierUsd: number;
  /** What models have cost in this run before this node: in its scope, and in what was joined there. */
  spentUsd: number;
}

/** A text node at its place in a run, with the question as its model gets it: references replaced, secrets masked. */
export interface TextTask
  extends Pick<PromptTask, "at" | "client" | "version" | "node" | "edges" | "mask" | "earlierUsd" | "spentUsd"> {
  system: string;
  prompt: string;
  /** What the step of the first answer says it was made from. */
  record: unknown;
}

/** Code that was written, proven and kept before. */
export interface PinnedCode {
  /** Key of its generation. */
  generation: string;
  code: string;
  /** Looks at the data before: `code` finds its result. */
  analysis?: string;
}

/** Where pinned code has its claims: places in front of the journal, which no step ever has. -1 names no claim at all. */
export const pinnedPlaces = { code: 0, analysis: -2 } as const;

/** Analysis that ran in front of pinned code. */
export interface PinnedAnalysis {
  code: string;
  /** JSON text of what it found, secrets masked; null where it failed. */
  json: string | null;
}

/** A run of an agent, ready to be recorded; the public fields of a step. */
export interface StepDraft {
  /** 1 InputAnalyzer, or the TextWriter of a text node, 2 DataAnalyzer, 3 CodeGenerator, 4 CodeValidator, 5 E2BExecutor, 6 OutputValidator. */
  step_number: number;
  step_name: string;
  agent_name: string;
  attempt_number: number;
  /** A summary: nothing large, nothing secret. */
  input_data: unknown;
  output_data: unknown;
  generated_code: string | null;
  sandbox_id: string | null;
  model_used: string | null;
  tokens_input: number;
  tokens_cached: number;
  tokens_output: number;
  cost_usd: number;
  /** Sentences on tokens and cost that are not what they seem: estimated, or of a model without a price. Absent: none. */
  cost_notes?: string[];
  tool_calls: ToolCall[];
  status: "success" | "failed";
  error_message: string | null;
  traceback?: string;
  logs?: string;
  execution_time_ms: number;
  /** What the model saw and answered, in full, secrets masked; stored as contents. */
  prompt?: string;
  answer?: string;
  /** Of a run of the node's code that succeeded: what it did, so that a redelivery need not ask the sandbox again. */
  result?: CodeResult;
}

export interface ToolCall {
  function: string;
  arguments: Record<string, unknown>;
  /** A summary of what it found. */
  found?: unknown;
}

/** A step read back from the record, without `prompt` and `answer`. `journal`: its place, from 1. */
export interface JournalStep extends StepDraft {
  journal: number;
  /** ISO 8601. */
  timestamp: string;
}

/** The steps of one link, in order: what was recorded once is answered again, never run again. */
export interface Journal {
  /** The step at the next place: the recorded one, by whichever delivery, or the one `work` makes. */
  next(work: (journal: number) => Promise<StepDraft>): Promise<JournalStep>;
}

/** What the code's result means for the node; the same judgement that code written by hand meets. */
export type Judgement =
  | { status: "success"; set: readonly Member[]; delete: readonly string[]; decision: string | null }
  | {
      status: "failed";
      class: RunErrorClass;
      message: string;
      traceback?: string;
      types?: readonly string[] | undefined;
    };

/** What the engine does for a pipeline. Errors of the infrastructure are thrown through it, and are none of its business. */
export interface PipelineMeans {
  journal: Journal;
  /**
   * Runs code in the node's sandbox, once per journal place; a redelivery attaches to it. `extra` lies over the context
   * and is dropped from the result. `network: false`: the code reaches nothing, whatever the node may. Pinned code runs
   * at `pinnedPlaces`. `code` is the one that ran: where no recorded step has it yet, another delivery may have begun
   * with what its own model wrote.
   */
  execute(
    journal: number,
    code: string,
    options: { timeoutSeconds: number; extra?: readonly Member[]; network?: false },
  ): Promise<{ sandboxId: string; result: CodeResult; code: string }>;
  judge(result: CodeResult): Promise<Judgement>;
  /** Text of a whole value, blobs included, for checks without a model; null above `maxBytes`. */
  valueText(key: string, maxBytes: number): Promise<string | null>;
  /** US dollars that models have cost so far in other branches and items of the run. */
  spentBesideUsd(): Promise<number>;
  /** What the client's models have cost this month, steps that are recorded here included; null where nobody limits it. */
  monthBudget(): Promise<MonthBudget | null>;
  /** Milliseconds until the node's budget is spent. */
  timeLeftMs(): number;
  /** Fires when this Lambda has to stop: throw `NodeUnfinished`. */
  signal: AbortSignal;
  now(): number;
}

/** What the engine does for a question to a model. */
export type TextMeans = Omit<PipelineMeans, "execute" | "judge" | "valueText">;

/** What a pipeline came to. `code` is the last one that was written, null where none was; `analysis`: of a hit. */
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
      /** Of an exception: its class and those that it derives from. */
      types?: readonly string[];
      logs?: string;
      sandboxId: string | null;
    }
);

/** What an outcome says of code where none was written and none ran. */
export const noCode = { code: null, cacheHit: false, generation: null, sandboxId: null } as const;

/** Writes the code of prompt nodes, and the answers of text nodes, with models; nothing behind this port knows the chain. */
export interface Pipeline {
  /** Code that was pinned for such a node and fits this input; null: it has to be written. */
  pinned(task: PromptTask): Promise<PinnedCode | null>;
  /** The pinned code that an earlier delivery began with. */
  generation(task: PromptTask, key: string): Promise<PinnedCode>;
  /** Runs pinned code, and writes code where there is none or it failed by its own fault. */
  run(task: PromptTask, means: PipelineMeans, pinned: PinnedCode | null): Promise<PipelineOutcome>;
  /** Asks the model of a text node. Its result sets the answer, and at a decision the edge. */
  answer(task: TextTask, means: TextMeans): Promise<PipelineOutcome>;
}

/** US dollars of a calendar month (UTC). */
export interface MonthBudget {
  spentUsd: number;
  limitUsd: number;
}

/** What models may cost a client. */
export interface Budgets {
  /** Of this month; null where there is no limit. */
  ofMonth(client: string): Promise<MonthBudget | null>;
  /** What a node has cost its client so far: again and again while it goes on, never less than before. */
  note(client: string, node: LinkId, usd: number): Promise<void>;
}
