import type { CloseStatus, EntryId, Spending } from "@nova/engine";
import type { OnFailure } from "@nova/workflow";
import type { AuditRecord } from "./audit.ts";
import type { Range } from "./page.ts";

/** The client of all runs that are started without a client. This client has no record and no quota. */
export const defaultClient = "default";

/** A company for which workflows run. */
export interface Client {
  format: 1;
  slug: string;
  name: string;
  /** The version that the client's runs use instead of the active one, by workflow. */
  pins: Record<string, number>;
  /** JSON text of an object: keys and values that the initial context of each of the client's runs gets. */
  variables?: string;
  quotas?: ClientQuotas;
  onFailure?: OnFailure;
  /** Sender address of mails about the client's runs; absent or empty: the sender address of the deployment. */
  mailFrom?: string;
  /** ISO 8601: retention has erased the contents of all runs that started before this time. */
  erasedUntil?: string;
  createdAt: string;
  erasing?: Erasing;
}

/** The progress of a client's erasure. While it lasts, new runs of the client execute nothing. */
export interface Erasing {
  by: string;
  since: string;
  part: "executions" | "rest";
  cursor?: string;
  /** The audit record of the deletion. `eraseClient` writes it to the audit before it erases anything. */
  deed?: AuditRecord;
  markedAt?: string;
  runs?: number;
  /** ISO 8601: the start of the current pass over all data of the client. It is absent if another pass must follow. */
  passSince?: string;
  /**
   * ISO 8601: the next pass is not due before this time. That pass looks for runs that were in progress at the
   * deletion.
   */
  restsUntil?: string;
}

export interface ClientStore {
  /** Stores a new client. Returns false if its slug is taken. */
  create(client: Client): Promise<boolean>;
  get(slug: string): Promise<Client | undefined>;
  /** Changes fields of a client. Returns false if there is no such client. */
  update(slug: string, changes: Partial<Omit<Client, "format" | "slug" | "createdAt">>): Promise<boolean>;
  remove(slug: string): Promise<void>;
  list(query: Range): Promise<Client[]>;
}

/** Limits of a workflow, for all its versions. Absent: unlimited. */
export interface WorkflowQuotas {
  /** Maximum number of concurrent runs, of all clients together. */
  maxConcurrent?: number;
  maxConcurrentPerClient?: number;
}

/** Limits of a client's runs. Absent: unlimited. */
export interface ClientQuotas {
  /** Maximum number of concurrent runs, of all workflows together. */
  maxConcurrent?: number;
  /** US dollars for models in one calendar month (UTC). */
  maxCostUsd?: number;
  /** Number of days that the contents of a run are kept after its end. */
  retentionDays?: number;
}

/** A run that waits in the queue of a pool. The id of the run is a ULID, so tickets sort by arrival. */
export interface Ticket {
  execution: string;
  pools: string[];
  /**
   * The run's rank in the pool of all runs, if that pool is limited. Queues are sorted by rank, and then by arrival.
   */
  rank?: string | undefined;
}

/**
 * Stores which runs hold slots of pools, and the queues of runs that wait for a slot. Every read is strongly
 * consistent. `admission` is the ULID of an attempt to start a run. Because of it, a late call of an earlier attempt
 * cannot undo a later attempt.
 */
export interface SlotStore {
  /**
   * Takes a slot for the run, and stores that this admission holds the slot. Returns false if `limit` slots are taken,
   * or if a later admission holds the run's slot.
   */
  take(pool: string, execution: string, admission: string, limit: number): Promise<boolean>;
  /**
   * Frees the run's slot. With `admission`, it frees the slot only if that admission holds it. With `rank`, the rank of
   * a run that has ended, it also stores this rank.
   */
  giveBack(pool: string, execution: string, of?: { admission?: string; rank?: string | undefined }): Promise<void>;
  taken(pool: string): Promise<string[]>;
  /** Adds the run to the queues of all its pools. A call can be repeated. */
  enqueue(ticket: Ticket): Promise<void>;
  leave(ticket: Ticket): Promise<void>;
  /**
   * Returns the rank of a new run of this client: after the client's other runs, and after the runs that have ended. So
   * clients take turns, and a client that filled all free slots lets the others catch up.
   */
  rank(pool: string, client: string): Promise<string>;
  /** Yields the tickets in the queue of a pool, sorted by rank, then by arrival. */
  waiting(pool: string): AsyncIterable<Ticket>;
  /** Yields every pool that ever had a queue. */
  pools(): AsyncIterable<string>;
}

/** Costs of models per client and calendar month. */
export interface SpendingStore {
  /** Records the cost of a node so far. A value that is lower than the stored value is ignored. `month`: `2026-11`. */
  note(client: string, month: string, node: EntryId, usd: number): Promise<void>;
  ofMonth(client: string, month: string): Promise<number>;
}

/** How often each duration was measured. The keys are milliseconds, rounded to two significant digits. */
export type Durations = Readonly<Record<string, number>>;

/** The statistics of a node, in one run or in many. */
export interface NodeFigures {
  runs: number;
  failed: Record<string, number>;
  totalMs: number;
  /** Total duration of the node's failed runs; absent: 0. */
  failedMs?: number;
  /** How often each duration occurred; null if the durations do not fit into an item of the table. */
  durations: Durations | null;
  /** The cost and tokens of models; absent: the node called no model. */
  spent?: Spending;
  /**
   * `hits`: the number of runs of pinned code. `savedUsd`: the US dollars that it would have cost to write that code
   * again.
   */
  hits?: number;
  savedUsd?: number;
}

/** The statistics of an ended run, with everything that ran inside it. Written once; a repeated write is identical. */
export interface RunStats {
  format: 1;
  execution: string;
  workflowId: string;
  version: number;
  client: string;
  status: CloseStatus;
  endedAt: string;
  durationMs: number;
  failure?: { node: string; class: string };
  nodes: Record<string, NodeFigures>;
}

/** Selects runs of a workflow, of a client, or of both, that ended between two times, both included. */
export type StatsQuery = {
  from: string;
  to: string;
} & ({ workflow: string; client?: string } | { workflow?: undefined; client: string });

export interface StatsStore {
  put(stats: RunStats): Promise<void>;
  read(query: StatsQuery): AsyncIterable<RunStats>;
}
