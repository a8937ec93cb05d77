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
