/**
 * Every error class of a run, in one table: its ASL name, and who retries it. The compiler makes `Retry` and `Catch`
 * from it, and the engine throws nothing else across a Lambda's edge.
 */
export const runErrors = {
  /** The code failed, or its output cannot be kept. */
  NodeFailed: { retry: "never" },
  /** The code ran out of its own time. */
  NodeTimeout: { retry: "never" },
  /** The sandbox that the turn names is gone while code may have begun. */
  NodeInterrupted: { retry: "never" },
  /** A budget is spent. */
  BudgetExceeded: { retry: "never" },
  /** The provider of the model does not answer, or not to us: down beyond the client's own retries, a wrong key. */
  ModelUnavailable: { retry: "never" },
  /** The run was closed while this delivery was under way. */
  ExecutionClosed: { retry: "never" },
  /** The chain says something that no delivery can explain: a bug, never a case. */
  ChainBroken: { retry: "never" },
  /**
   * No sandbox can be had (limits, capacity, connectivity); nothing has begun. About 30 min, at most 60 s apart, full
   * jitter.
   */
  SandboxUnavailable: { retry: "patient" },
  /** Code outlives this Lambda: the next delivery attaches to it. */
  NodeUnfinished: { retry: "at once" },
} as const satisfies Record<string, { retry: "never" | "patient" | "at once" }>;

export type RunErrorClass = keyof typeof runErrors;
