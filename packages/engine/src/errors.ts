/**
 * Every error class of a run, in one table: its ASL name, and who retries it. The compiler makes `Retry` and `Catch`
 * from this table, so a class that is not in it cannot be thrown across a Lambda's edge.
 */
export const errorTable = {
  /** The code failed, or its output cannot be kept. */
  NodeFailed: { retry: "never" },
  /** The code ran out of its own time. */
  NodeTimeout: { retry: "never" },
  /** The sandbox that the turn names is gone while code may have begun. */
  NodeInterrupted: { retry: "never" },
  /** A budget is spent. */
  BudgetExceeded: { retry: "never" },
  /** The run was closed while this delivery was under way. */
  ExecutionClosed: { retry: "never" },
  /** The chain says something that no delivery can explain: a bug, never a case. */
  ChainBroken: { retry: "never" },
  /** No sandbox can be had: limits, capacity, connectivity. Nothing has begun. */
  SandboxUnavailable: { retry: "patient" },
  /** Code outlives this Lambda: the next delivery attaches to it. */
  NodeUnfinished: { retry: "at once" },
} as const satisfies Record<string, { retry: "never" | "patient" | "at once" }>;

export type ErrorClass = keyof typeof errorTable;

/** Leaves a Lambda as `errorType`, which is what `Retry` and `Catch` match. */
export class NovaError extends Error {
  constructor(name: ErrorClass, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}

/** DynamoDB or S3 did not answer in time; a write may or may not have happened. `States.ALL` retries it. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}

/** A blob that an entry names was erased. */
export class BlobMissing extends Error {
  override name = "BlobMissing";
}
