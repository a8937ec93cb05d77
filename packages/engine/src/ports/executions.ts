import type { RunErrorClass } from "@nova/workflow";
import type { EntryId } from "./chain.ts";
import type { Sandbox } from "./sandboxes.ts";

export type ExecutionStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";

export interface ExecutionError {
  node: string;
  class: RunErrorClass;
  message: string;
}

/** The cost and the tokens of models. */
export interface Spending {
  cost_usd: number;
  tokens_input: number;
  /** Input tokens that the provider had in its prompt cache. */
  tokens_cached: number;
  tokens_output: number;
}

/** The node of another execution that runs this execution. */
export interface Parent extends EntryId {
  /** The number of executions around this one. */
  depth: number;
}

/** The one mutable record of a run. The chain, not this record, is the history. */
export interface Execution {
  format: 1;
  id: string;
  workflowId: string;
  version: number;
  stateMachineArn: string;
  client: string;
  /** The execution whose blobs it shares: its own id, or that of the outermost execution around it. */
  root: string;
  parent?: Parent;
  /** Id of the trigger of its workflow that started it; absent if a caller started it. */
  trigger?: string;
  /** Business keys for searching, computed from the labels of its workflow at the start. Absent if there are none. */
  labels?: Record<string, string>;
  restartedFrom?: string;
  /** Executions that reuse its outcomes. A name without a record is of a restart that never started. */
  restarts?: string[];
  status: ExecutionStatus;
  /** ISO 8601. */
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  error?: ExecutionError;
  nodes?: number;
  /** Set at the close, if models were called. */
  spent?: Spending;
  tip?: string;
  /** The event of its end was published, but a later step of the close failed. */
  endPublished?: boolean;
  /** Pools in which it holds or waits for a slot; absent if no quota counts it. */
  pools?: string[];
  rank?: string;
  /** Set while it is queued: a ULID of the process that tries to start it, or "" if there is none. */
  admission?: string;
  /** `asked`: erasure was requested. `emptied`: its contents are erased. `true`: its blobs, too. */
  erased?: "asked" | "emptied" | true;
  /** In the sparse "open" index until all work after the close is done. */
  open: boolean;
}

export interface Label {
  name: string;
  value: string;
}

export interface ExecutionQuery {
  workflow?: string;
  client?: string;
  status?: ExecutionStatus;
  errorClass?: string;
  trigger?: string;
  label?: Label;
  /**
   * The maximum of records to read of each workflow or client. A page may then have fewer executions than `limit` and
   * still a cursor. Absent: as many as the page needs. Records of unfinished executions are never limited.
   */
  looksAt?: number;
  /** ISO 8601, inclusive. */
  from?: string;
  to?: string;
  limit?: number;
  cursor?: string;
  /** Oldest first, for a query by client or workflow. */
  oldestFirst?: boolean;
}

/** An idle sandbox that an execution offers to others, and all sandboxes that it offers, as far as known. */
export type Offer = Pick<Execution, "id" | "client" | "workflowId" | "version"> & { idle: Sandbox; offered: Sandbox[] };

export interface ExecutionList {
  items: Execution[];
  /** Ids of runs whose records NOVA did not write in this form. */
  unreadable?: string[];
  cursor?: string;
}

export interface ExecutionStore {
  /** Returns false if the id exists. It first adds the restart to its source; throws if that was erased. */
  create(execution: Execution): Promise<boolean>;
  /** Throws `UnreadableRecord` for a record that NOVA did not write in this form. */
  get(id: string): Promise<Execution | undefined>;
  update(id: string, changes: Partial<Omit<Execution, "open">>): Promise<void>;
  /** Removes it from the open index, and offers its sandboxes. Returns false if it was removed before. */
  leave(execution: Pick<Execution, "id" | "client">, idle: readonly Sandbox[]): Promise<boolean>;
  /**
   * Offered sandboxes, eventually consistent. For a client: at most a hundred offers, of the executions that started
   * last first. For all clients: some hundreds, of the executions that started first.
   */
  idle(client?: string): Promise<Offer[]>;
  /** Replaces the offered sandbox by `instead`. Returns false if another execution has taken it. */
  keepIdle(offer: Offer, instead: Sandbox): Promise<boolean>;
  /** Returns false if another execution has taken it. */
  takeIdle(offer: Offer): Promise<boolean>;
  /** Sets the status of an open execution if it is one of `from`; otherwise returns false. */
  setStatus(id: string, status: ExecutionStatus, from: readonly ExecutionStatus[]): Promise<boolean>;
  /**
   * Sets the admission of a queued, open execution from `from` to `to`, also if it is `to` already. With `begun` the
   * execution runs. Returns false if another process admits it, or if it is no longer queued.
   */
  admit(id: string, change: { from: string; to: string; begun?: true }): Promise<boolean>;
  /** Newest first, unless the query says otherwise. */
  list(query: ExecutionQuery): Promise<ExecutionList>;
  open(): AsyncIterable<Execution>;
}

/**
 * The service's work after the end of a run: statistics, slots, the client's cost. The record says how the run ended.
 * Every finisher of the close calls it before the record leaves the open index, several at the same time if necessary,
 * and again until that has happened. So every step of it can be repeated.
 */
export type OnExecutionEnded = (execution: Execution) => Promise<void>;

export interface StateMachines {
  /** Creates or updates the machine of a workflow and publishes a version. Returns the version's ARN. */
  publish(name: string, definition: string, description: string): Promise<string>;
  /** StartExecution, idempotent for the same name and input. */
  start(stateMachineArn: string, name: string, input: string): Promise<void>;
  /** StopExecution. It succeeds for an execution that is unknown or has ended. */
  stop(stateMachineArn: string, name: string, error: string, cause: string): Promise<void>;
  /** SendTaskSuccess. Returns false if no task waits with this token any more. */
  answerTask(token: string, output: string): Promise<boolean>;
  /** Names of a machine's running executions over all versions; a run counts once. Eventually consistent. */
  running(stateMachineArn: string): Promise<ReadonlySet<string>>;
  /** Null if there is no such execution. */
  describe(stateMachineArn: string, name: string): Promise<StateMachineRun | null>;
  /** Address of the execution for people; null if it has none. */
  page(stateMachineArn: string, name: string): string | null;
}

export interface StateMachineRun {
  status: "running" | "succeeded" | "failed" | "timed_out" | "aborted";
  error?: string;
  cause?: string;
}
