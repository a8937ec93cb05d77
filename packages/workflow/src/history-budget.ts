/**
 * Counts the events in the history of a run's Step Functions execution. The compiler adds it to a state machine whose
 * loops may exceed one history; the run counts its own entries with it.
 */
export interface HistoryBudget {
  /** A loop edge continues in a new execution if the count is above this number. */
  most: number;
  /** Events at the start of every execution. */
  begun: number;
  /** Events of a failure that the run survives. */
  settled: number;
  /** Events by `node_id` of an entry. */
  entries: Readonly<Record<string, EntryEvents>>;
}

export interface EntryEvents {
  own: number;
  /** Events for each branch or item of a join, in addition to those of its entries. */
  each?: number;
  /** For the join of a map: more items than this had executions, and so histories, of their own. */
  inlineItems?: number;
}
