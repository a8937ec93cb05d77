/**
 * How a run counts the events that the history of its Step Functions execution may have by now. The compiler says it of
 * a state machine whose loops may need more than one history has room for; a run counts by it in its chain.
 */
export interface HistoryBudget {
  /** A loop that leads back with more events than this goes on in a further execution. */
  most: number;
  /** What every execution begins with. */
  begun: number;
  /** What a failure adds that the run survives. */
  settled: number;
  /** By `node_id` of an entry. */
  entries: Readonly<Record<string, EntryEvents>>;
}

export interface EntryEvents {
  own: number;
  /** Of a join: for each branch or item, besides what its own entries say. */
  each?: number;
  /** Of the join of a map: more items than this had executions, and so histories, of their own. */
  inlineItems?: number;
}
