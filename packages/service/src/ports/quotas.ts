import type { LinkId } from "@nova/engine";

/** What runs of a workflow may do at once, whatever the version. Absent: as much as comes. */
export interface WorkflowQuotas {
  /** Runs at once, of all clients together. */
  maxConcurrent?: number;
  /** Runs at once of each client. */
  maxConcurrentPerClient?: number;
}

/** What a client's runs may do. Absent: as much as comes. */
export interface ClientQuotas {
  /** Runs at once, of all workflows together. */
  maxConcurrent?: number;
  /** US dollars that models may cost in a calendar month (UTC). */
  maxCostUsd?: number;
  /** Days after its end for which the contents of a run are kept. */
  retentionDays?: number;
}

/** A place in the queue of a pool; its run's id, a ULID, is when it arrived. */
export interface Ticket {
  execution: string;
  /** All the pools of which the run needs a slot. */
  pools: string[];
  /** Its place among the runs of everybody, if those are counted: it goes before the order of arrival. */
  rank?: string | undefined;
}

/**
 * Slots of pools, which runs hold, and the queues in front of them. Every read is strongly consistent. `admission` is
 * the ULID of an attempt to begin a run: what an earlier attempt does late undoes nothing of a later one's.
 */
export interface SlotStore {
  /** A slot that the run has becomes this admission's. False where `limit` are taken, or a later admission has it. */
  take(pool: string, execution: string, admission: string, limit: number): Promise<boolean>;
  /** Gives the run's slot back, with an `admission` only that one's. `rank`: of a run that has ended. */
  giveBack(pool: string, execution: string, of?: { admission?: string; rank?: string | undefined }): Promise<void>;
  /** Executions that hold a slot. */
  taken(pool: string): Promise<string[]>;
  /** Into the queues of all its pools; again is harmless. */
  enqueue(ticket: Ticket): Promise<void>;
  /** Out of the queues of all its pools. */
  leave(ticket: Ticket): Promise<void>;
  /**
   * The rank of a run of this client that arrives now: behind all others of the client, and behind what has ended. So
   * clients take turns, however many runs one of them asks for, and whoever found all slots free lets others catch up.
   */
  rank(pool: string, client: string): Promise<string>;
  /** In the order of ranks, and of arrival. */
  waiting(pool: string): AsyncIterable<Ticket>;
  /** Every pool that ever had a queue. */
  pools(): AsyncIterable<string>;
}

/** What models have cost clients, by calendar month. */
export interface SpendingStore {
  /** What a node has cost so far; less than is there is ignored. `month`: `2026-11`. */
  note(client: string, month: string, node: LinkId, usd: number): Promise<void>;
  /** US dollars of a month. */
  ofMonth(client: string, month: string): Promise<number>;
}
