import type { RunErrorClass } from "@nova/workflow";
import type { LinkId } from "./chain.ts";
import type { Sandbox } from "./sandboxes.ts";

export type ExecutionStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";

export interface ExecutionError {
  node: string;
  /** A run error class, such as `NodeFailed`. */
  class: RunErrorClass;
  message: string;
}

/** What models were paid, and for how much text. */
export interface Spending {
  cost_usd: number;
  tokens_input: number;
  /** Of the input, what the provider had in its prompt cache. */
  tokens_cached: number;
  tokens_output: number;
}

/** The node that runs an execution, in another one. */
export interface Parent extends LinkId {
  /** How many executions are around this one. */
  depth: number;
}

/** The one mutable record of a run; the chain, not this, says what happened. */
export interface Execution {
  format: 1;
  id: string;
  workflowId: string;
  version: number;
  /** The state machine version that runs it. */
  stateMachineArn: string;
  client: string;
  /** Execution whose blobs it shares: its own id, or that of the outermost one around it. */
  root: string;
  parent?: Parent;
  /** Id of the trigger of its workflow that started it; absent: somebody asked for it. */
  trigger?: string;
  /** Business keys by which it is found: what the labels of its workflow came to at its start. Absent: none. */
  labels?: Record<string, string>;
  /** The execution whose outcomes it takes over. */
  restartedFrom?: string;
  /** Executions that take over its outcomes; one that is not there was never begun. */
  restarts?: string[];
  status: ExecutionStatus;
  /** ISO 8601. */
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  error?: ExecutionError;
  /** Runs of code, once closed. */
  nodes?: number;
  /** Once closed, where models were asked. */
  spent?: Spending;
  /** Hash of the close entry, once closed. */
  tip?: string;
  /** Its end went out as an event, and something that has to follow failed. */
  endPublished?: boolean;
  /** Pools in which it holds or waits for a slot; absent: no quota counts it. */
  pools?: string[];
  /** Its place among the runs of everybody that wait for a slot. */
  rank?: string;
  /** While it is queued: whoever tries to begin it, a ULID; "" where nobody does. */
  admission?: string;
  /** Somebody asks to erase it; its contents are gone, and its blobs perhaps not; nobody keeps anything of it. */
  erased?: "asked" | "emptied" | true;
  /** In the sparse "open" index until everything that follows a close is done. */
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
  /** Class of the error that ended it. */
  errorClass?: string;
  /** Id of the trigger that started it. */
  trigger?: string;
  /** A label that it has. */
  label?: Label;
  /**
   * So many records of each workflow or client are looked at, at most, in search of those that fit: a page may then have
   * fewer executions than `limit`, and a cursor all the same. Absent: as many as it takes, as of those that have not ended.
   */
  looksAt?: number;
  /** ISO 8601, inclusive. */
  from?: string;
  to?: string;
  limit?: number;
  cursor?: string;
  /** Of a client or a workflow. */
  oldestFirst?: boolean;
}

/** A sandbox that an execution has left for others, and all that it offers, as far as is known. */
export type Offer = Pick<Execution, "id" | "client" | "workflowId" | "version"> & { idle: Sandbox; offered: Sandbox[] };

export interface ExecutionList {
  items: Execution[];
  /** Ids of runs whose records are there, and have another form than NOVA writes. */
  unreadable?: string[];
  cursor?: string;
}

export interface ExecutionStore {
  /** False when the id is there already. The source of a restart learns of it before; throws where that was erased. */
  create(execution: Execution): Promise<boolean>;
  /** Throws `UnreadableRecord` for one that has another form than NOVA writes. */
  get(id: string): Promise<Execution | undefined>;
  /** Sets the fields given. */
  update(id: string, changes: Partial<Omit<Execution, "open">>): Promise<void>;
  /** Takes it out of the open index, and offers the sandboxes that it leaves. False where it is out already. */
  leave(execution: Pick<Execution, "id" | "client">, idle: readonly Sandbox[]): Promise<boolean>;
  /**
   * What is on offer, a moment late: of a client, that of the execution that began last first, of a hundred at most; of all
   * clients that of some hundreds of those that began first.
   */
  idle(client?: string): Promise<Offer[]>;
  /** Offers this one instead. False where somebody has taken the other one. */
  keepIdle(offer: Offer, instead: Sandbox): Promise<boolean>;
  /** False where somebody else has taken it. */
  takeIdle(offer: Offer): Promise<boolean>;
  /** Sets the status of an open execution where it is one of `from`; false where it is not. */
  setStatus(id: string, status: ExecutionStatus, from: readonly ExecutionStatus[]): Promise<boolean>;
  /**
   * Of a queued, open execution whose admission is `from`, or `to` already: whose it is from now on, and with `begun`
   * that it runs. False where it is another's by now, or is not queued any more.
   */
  admit(id: string, change: { from: string; to: string; begun?: true }): Promise<boolean>;
  /** Newest first, unless the query says otherwise. */
  list(query: ExecutionQuery): Promise<ExecutionList>;
  open(): AsyncIterable<Execution>;
}

/**
 * What a service does once a run has ended: its figures, the slots that it held, what it has cost its client. The record
 * says how it ended. Called before the record leaves the open index, by every finisher of the close, several at once if
 * need be, and again until that has happened: everything in it can be done twice.
 */
export type OnExecutionEnded = (execution: Execution) => Promise<void>;

export interface StateMachines {
  /** Creates or updates the machine of a workflow and publishes a version; answers the version's ARN. */
  publish(name: string, definition: string, description: string): Promise<string>;
  /** StartExecution, idempotent for the same name and input. */
  start(stateMachineArn: string, name: string, input: string): Promise<void>;
  /** StopExecution; an execution that is unknown or over is success. */
  stop(stateMachineArn: string, name: string, error: string, cause: string): Promise<void>;
  /** SendTaskSuccess; false: nobody waits with this token any more. */
  answerTask(token: string, output: string): Promise<boolean>;
  /** Names of a machine's running executions, of all versions, further ones by their run; eventually consistent. */
  running(stateMachineArn: string): Promise<ReadonlySet<string>>;
  /** Null: there is no such execution. */
  describe(stateMachineArn: string, name: string): Promise<StateMachineRun | null>;
  /** Address of the execution for people; null: it has none. */
  page(stateMachineArn: string, name: string): string | null;
}

export interface StateMachineRun {
  status: "running" | "succeeded" | "failed" | "timed_out" | "aborted";
  error?: string;
  cause?: string;
}
