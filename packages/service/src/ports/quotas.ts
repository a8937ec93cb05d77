import type { LinkId } from "@nova/engine";

/** Limits of a workflow, for all its versions. Absent: unlimited. */
export interface WorkflowQuotas {
  /** Concurrent runs, of all clients together. */
  maxConcurrent?: number;
  /** Concurrent runs of each client. */
  maxConcurrentPerClient?: number;
}

/** Limits of a client's runs. Absent: unlimited. */
export interface ClientQuotas {
  /** Concurrent runs, of all workflows together. */
  maxConcurrent?: number;
  /** US dollars for models in one calendar month (UTC). */
  maxCostUsd?: number;
  /** Days after its end for which the contents of a run are kept. */
  retentionDays?: number;
}

/** A run that waits in the queue of a pool. The run's id is a ULID, so ids sort by arrival. */
export interface Ticket {
  execution: string;
  /** All pools from which the run needs a slot. */
  pools: string[];
  /** The run's rank in the pool of all runs, if that pool is limited. Ranks sort before the order of arrival. */
  rank?: string | undefined;
}

/**
 * Slots of pools, which runs hold, and the queues of runs that wait for one. Every read is strongly consistent.
 * `admission` is the ULID of an attempt to start a run: a late call of an earlier attempt undoes nothing of a later one.
 */
export interface SlotStore {
  /** Assigns a slot of the run to this admission. False if `limit` slots are taken, or a later admission holds the slot. */
  take(pool: string, execution: string, admission: string, limit: number): Promise<boolean>;
  /** Frees the run's slot; with `admission` only if that admission holds it. `rank`: the rank of a run that has ended. */
  giveBack(pool: string, execution: string, of?: { admission?: string; rank?: string | undefined }): Promise<void>;
  /** Executions that hold a slot. */
  taken(pool: string): Promise<string[]>;
  /** Adds the run to the queues of all its pools. Can be repeated. */
  enqueue(ticket: Ticket): Promise<void>;
  /** Removes the run from the queues of all its pools. */
  leave(ticket: Ticket): Promise<void>;
  /**
   * Returns the rank of a new run of this client: after the client's other runs, and after the runs that have ended. So
   * clients take turns, and a client that filled all free slots lets the others catch up.
   */
  rank(pool: string, client: string): Promise<string>;
  /** Sorted by rank, then by arrival. */
  waiting(pool: string): AsyncIterable<Ticket>;
  /** Every pool that ever had a queue. */
  pools(): AsyncIterable<string>;
}

/** Costs of models per client and calendar month. */
export interface SpendingStore {
  /** Records the cost of a node so far; a lower value than the stored one is ignored. `month`: `2026-11`. */
  note(client: string, month: string, node: LinkId, usd: number): Promise<void>;
  /** US dollars of a month. */
  ofMonth(client: string, month: string): Promise<number>;
}
