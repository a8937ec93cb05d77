/**
 * Every error class of a run, in one table: its ASL name, and who retries it. Where it says `attempt`, an attempt of a
 * node can end so, and the node's own `retry` may name it. The compiler makes `Retry` and `Catch`
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
} as const satisfies Record<string, { retry: "never" | "patient" | "at once" | "as the node says"; attempt?: true }>;

export type RunErrorClass = keyof typeof runErrors;

/** Runs a node's failing code again, because its author says so; what it does outside is its author's business. */
export interface Retry {
  /** Runs in all, the first included. */
  attempts: number;
  delaySeconds: number;
  /** What each delay is multiplied by to make the next; absent: 1. */
  backoff?: number;
  maxDelaySeconds?: number;
  /** Each delay is drawn between nothing and its length. */
  jitter?: true;
  /** Errors after which it runs again; absent: any of `retriedErrors`. */
  on?: string[];
}

export const maxRetryAttempts = 20;

/** Of a prompt node, each of whose attempts asks models up to three times. */
export const maxPromptAttempts = 5;

/** A day: no delay is longer. */
export const longestDelaySeconds = 86_400;

/** Failures that an attempt of a node can end with, and another one can follow. */
export const retriedErrors = Object.keys(runErrors).filter(
  (name) => "attempt" in runErrors[name as RunErrorClass],
) as readonly RunErrorClass[];

/** Names that earlier design documents have for them. */
export const earlierErrorNames: Readonly<Record<string, RunErrorClass>> = {
  CodeExecutionError: "NodeFailed",
  E2BTimeoutError: "NodeTimeout",
  E2BSandboxError: "NodeInterrupted",
  E2BConnectionError: "SandboxUnavailable",
};

/** Whole seconds as Step Functions waits them, at least one; with jitter at most so long. */
export function retryWaits({ delaySeconds, backoff = 1, maxDelaySeconds = longestDelaySeconds }: Retry) {
  const longest = Math.max(1, Math.ceil(maxDelaySeconds));
  return { interval: Math.min(Math.max(1, Math.ceil(delaySeconds)), longest), backoff, longest };
}

/** Seconds between a failed attempt, counted from 1, and the next one. */
export function secondsAfter(retry: Retry, attempt: number): number {
  const { interval, backoff, longest } = retryWaits(retry);
  return Math.min(interval * backoff ** (attempt - 1), longest);
}

/**
 * Whether a node waits as long as the `Retry-After` of a server says: its author bounds that with `max_delay`. Such a wait
 * is a state of its own, because Step Functions knows the lengths of its own retries when the workflow is published.
 */
export function heedsRetryAfter({ retry, executor }: { retry?: Retry; executor: { kind: string } }): boolean {
  return executor.kind === "code" && retry?.maxDelaySeconds !== undefined && retry.attempts > 1;
}

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** Whole seconds that a `Retry-After` asks for, at most `longest`; 0 for a time that is over, and for any other text. */
export function retryAfterSeconds(header: string, nowMs: number, longest: number): number {
  const text = header.trim();
  if (/^\d{1,100}$/.test(text)) return Math.min(Number(text), longest);
  const seconds = httpDate.test(text) ? Math.ceil((Date.parse(text) - nowMs) / 1000) : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(0, seconds), longest);
}

/** An entry of `on`: the name of an error, and text that its message contains. */
export function retriedError(entry: string): { name: string; text: string } {
  const [name = "", ...text] = entry.trim().split(/\s+/);
  return { name, text: text.join(" ") };
}
