/**
 * Every error class of a run, in one table: its ASL name, and who retries it. The compiler makes `Retry` and `Catch`
 * from it, and the engine throws nothing else across a Lambda's edge.
 */
export const runErrors = {
  /** The code failed, or its output cannot be kept. */
  NodeFailed: { retry: "never", attempt: true },
  /** The code ran out of its own time. */
  NodeTimeout: { retry: "never", attempt: true },
  /** The sandbox that the turn names is gone while code may have begun. */
  NodeInterrupted: { retry: "never", attempt: true },
  /** A budget is spent. */
  BudgetExceeded: { retry: "never" },
  /** The provider of the model does not answer, or not to us: down beyond the client's own retries, a wrong key. */
  ModelUnavailable: { retry: "never", attempt: true },
  /** The run was closed while this delivery was under way. */
  ExecutionClosed: { retry: "never" },
  /** The chain says something that no delivery can explain: a bug, never a case. */
  ChainBroken: { retry: "never" },
  /**
   * No sandbox can be had (limits, capacity, connectivity); nothing has begun. About 30 min, at most 60 s apart, full
   * jitter.
   */
  SandboxUnavailable: { retry: "patient" },
  /** An attempt failed, and the node's own `retry` says when the next one begins: its retrier waits for that. */
  NodeRetry: { retry: "as the node says" },
  /** Code outlives this Lambda: the next delivery attaches to it. */
  NodeUnfinished: { retry: "at once" },
} as const satisfies Record<string, RunErrorPolicy>;

interface RunErrorPolicy {
  retry: "never" | "patient" | "at once" | "as the node says";
  /** An attempt of a node can end so: the node's own `retry` may name it. */
  attempt?: true;
}

export type RunErrorClass = keyof typeof runErrors;
