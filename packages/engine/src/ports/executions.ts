import type { RunErrorClass } from "@nova/workflow";
import type { EntryId } from "./chain.ts";
import type { Sandbox } from "./sandboxes.ts";

export type ExecutionStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";

export interface ExecutionError {
  node: string;
  class: RunErrorClass;
  message: string;
}

/** The cost of models in US dollars, and their tokens. */
export interface Spending {
  cost_usd: number;
  tokens_input: number;
  /** Input tokens that the provider had in its prompt cache. */
  tokens_cached: number;
  tokens_output: number;
}

/** The entry of the node that started this execution as its child. */
export interface Parent extends EntryId {
  /** The number of executions that enclose this one: 1 if the parent has no parent itself. */
  depth: number;
}

/** The record of a run. It is the only part of a run that changes; the history of the run is its chain. */
export interface Execution {
  format: 1;
  id: string;
  workflowId: string;
  version: number;
  stateMachineArn: string;
  client: string;
  /** The execution under whose id the blobs of this execution are stored. */
  root: string;
  parent?: Parent;
  /** Id of the workflow's trigger that started this execution; absent if a caller started it. */
  trigger?: string;
  /**
   * Business keys by which people find the run, computed at the start from the `labels` of its workflow. Absent if
   * there are none.
   */
  labels?: Record<string, string>;
  restartedFrom?: string;
  /**
   * Ids of executions that restarted this execution. An id without a record belongs to a restart that never started.
   */
  restarts?: string[];
  /**
   * Lists the `restarts` that are runs of sessions. A session only tries a change, so its runs do not count as
   * restarts.
   */
  sessionRuns?: string[];
  status: ExecutionStatus;
  /** A time in ISO 8601. */
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  error?: ExecutionError;
  nodes?: number;
  /** Set at the close, if models were called. */
  spent?: Spending;
  tip?: string;
  /**
   * Set if the event about the end of the run was published, but a later step of the close failed. NOVA does not
   * publish the event again.
   */
  endPublished?: boolean;
  /** Pools of quotas in which this execution has a slot or waits for a slot; absent if no quota applies to it. */
  pools?: string[];
  rank?: string;
  /** Set while the execution is queued: the ULID of the process that is starting it, or "" if no process is. */
  admission?: string;
  /**
   * `asked`: an erasure was requested. `emptied`: the contents of the entries are erased. `true`: the blobs are erased,
   * too.
   */
  erased?: "asked" | "emptied" | true;
  /**
   * Whether the execution is in the index of open executions. It stays there until all work after its close is done.
   */
  open: boolean;
}

export interface Label {
  name: string;
  value: string;
}

export interface ExecutionQuery {
  workflow?: string;
  client?: string;
  /** The list has at least one status. */
  statuses?: readonly ExecutionStatus[];
  errorClass?: string;
  trigger?: string;
  label?: Label;
  /**
   * The largest number of records that the store reads of each workflow or client. A page may then have fewer
   * executions than `limit` although further executions follow after its cursor. If absent, the store reads as many
   * records as the page needs. It always reads the records of unfinished executions.
   */
  looksAt?: number;
  /** ISO 8601, inclusive. */
  from?: string;
  to?: string;
  limit?: number;
  cursor?: string;
  /** Whether the oldest executions come first. Possible only in a query by client or workflow. */
  oldestFirst?: boolean;
}

/**
 * An idle sandbox that an execution offers to other executions. `offered` lists all sandboxes that the execution
 * offered when its record was read.
 */
export type Offer = Pick<Execution, "id" | "client" | "workflowId" | "version"> & { idle: Sandbox; offered: Sandbox[] };

export interface ExecutionList {
  items: Execution[];
  /** Ids of runs whose records NOVA cannot parse. */
  unreadable?: string[];
  cursor?: string;
}

export interface ExecutionStore {
  /**
   * Creates a record. For a restart, first adds the id to the record of the source. Returns false if an execution with
   * this id exists. Throws if the source was erased.
   */
  create(execution: Execution): Promise<boolean>;
  /** Throws `UnreadableRecord` for a record that NOVA cannot parse. */
  get(id: string): Promise<Execution | undefined>;
  update(id: string, changes: Partial<Omit<Execution, "open">>): Promise<void>;
  /**
   * Removes the execution from the open index and offers its sandboxes `idle`. Returns false if another call has
   * removed it.
   */
  leave(execution: Pick<Execution, "id" | "client">, idle: readonly Sandbox[]): Promise<boolean>;
  /**
   * Returns offered sandboxes, eventually consistent. With `client`: at most a hundred, of the executions that started
   * most recently. Without it: some hundreds, of the oldest executions of all clients.
   */
  idle(client?: string): Promise<Offer[]>;
  /**
   * Replaces the idle sandbox of `offer` by `instead`, which other executions can then take. Returns false if another
   * execution has already taken the offered sandbox.
   */
  keepIdle(offer: Offer, instead: Sandbox): Promise<boolean>;
  /**
   * Takes the idle sandbox of `offer`, so that no other execution can take it. Returns false if another execution has
   * already taken it.
   */
  takeIdle(offer: Offer): Promise<boolean>;
  /** Sets the status of an open execution if its present status is one of `from`; otherwise returns false. */
  setStatus(id: string, status: ExecutionStatus, from: readonly ExecutionStatus[]): Promise<boolean>;
  /**
   * Changes the `admission` of a queued, open execution from `from` to `to`. Also succeeds if the `admission` is `to`
   * already. With `begun` the execution also becomes running. Returns false if another process is starting the
   * execution, or if it is no longer queued.
   */
  admit(id: string, change: { from: string; to: string; begun?: true }): Promise<boolean>;
  /** Lists the newest executions first, unless the query has `oldestFirst`. */
  list(query: ExecutionQuery): Promise<ExecutionList>;
  open(): AsyncIterable<Execution>;
}

/**
 * Does the work of the service after the end of a run. It stores statistics with the cost of each node, stores the leaf
 * of the run for the next Merkle tree, and frees the slots. The record says how the run ended. Several processes may
 * close the same run, and each calls this before it removes the record from the open index. So every step of the work
 * must be harmless when it is repeated.
 */
export type OnExecutionEnded = (execution: Execution) => Promise<void>;

export interface StateMachines {
  /** Creates or updates the machine of a workflow and publishes a version. Returns the version's ARN. */
  publish(name: string, definition: string, description: string): Promise<string>;
  /** Starts an execution. A second call with the same name and input has no effect. */
  start(stateMachineArn: string, name: string, input: string): Promise<void>;
  /** Stops an execution. Succeeds also if the execution is unknown or has ended. */
  stop(stateMachineArn: string, name: string, error: string, cause: string): Promise<void>;
  /** Sends the answer of a task to Step Functions. Returns false if no task waits with this token any more. */
  answerTask(token: string, output: string): Promise<boolean>;
  /** Returns the names of all running executions of all versions of a state machine. Eventually consistent. */
  running(stateMachineArn: string): Promise<ReadonlySet<string>>;
  /** Returns the status of an execution; null if it does not exist. */
  describe(stateMachineArn: string, name: string): Promise<StateMachineRun | null>;
  /** Returns the address of a web page about the execution; null if there is no such page. */
  page(stateMachineArn: string, name: string): string | null;
}

export interface StateMachineRun {
  status: "running" | "succeeded" | "failed" | "timed_out" | "aborted";
  error?: string;
  cause?: string;
}
