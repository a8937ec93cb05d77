/** Every error class of a run. `attempt`: it can end an attempt of a node, so the node's `retry` may name it. */
export const runErrors = {
  /** The code failed, or its output cannot be stored. */
  NodeFailed: { retry: "never", attempt: true },
  NodeTimeout: { retry: "never", attempt: true },
  /** The sandbox of the turn disappeared, and the code may have started. */
  NodeInterrupted: { retry: "never", attempt: true },
  BudgetExceeded: { retry: "never" },
  /** The model's provider does not answer after the client's own retries, or refuses the key. */
  ModelUnavailable: { retry: "never", attempt: true },
  /** The run was closed during this delivery. */
  ExecutionClosed: { retry: "never" },
  /** The chain has a state that no delivery can explain. That is a bug. */
  ChainBroken: { retry: "never" },
  /** No sandbox is available: no code has started. Step Functions retries for 30 minutes, at most 60 s apart. */
  SandboxUnavailable: { retry: "patient" },
  /** An attempt failed, and the node's `retry` allows another one. Its retrier waits for the delay. */
  NodeRetry: { retry: "as the node says" },
  /** The code outlives this Lambda. The next delivery attaches to it. */
  NodeUnfinished: { retry: "at once" },
} as const satisfies Record<string, { retry: "never" | "patient" | "at once" | "as the node says"; attempt?: true }>;

export type RunErrorClass = keyof typeof runErrors;

/** The author's request to run failing code again. The author is responsible for side effects. */
export interface Retry {
  attempts: number;
  delaySeconds: number;
  backoff?: number;
  maxDelaySeconds?: number;
  /** Draws each delay at random between 0 and its length. */
  jitter?: true;
  on?: string[];
}

export const maxRetryAttempts = 20;

/** The limit for a prompt node: each attempt asks models up to three times. */
export const maxPromptAttempts = 5;

export const longestDelaySeconds = 86_400;

/** Errors that can end an attempt and lead to another one. */
export const retriedErrors = Object.keys(runErrors).filter(
  (name) => "attempt" in runErrors[name as RunErrorClass],
) as readonly RunErrorClass[];

/** Aliases of error classes, for workflows from other systems. */
export const errorAliases: Readonly<Record<string, RunErrorClass>> = {
  CodeExecutionError: "NodeFailed",
  E2BTimeoutError: "NodeTimeout",
  E2BSandboxError: "NodeInterrupted",
  E2BConnectionError: "SandboxUnavailable",
};

/** Whole seconds, as Step Functions requires: at least one. With jitter, `interval` is the upper limit. */
export function retryWaits({ delaySeconds, backoff = 1, maxDelaySeconds = longestDelaySeconds }: Retry) {
  const longest = Math.max(1, Math.ceil(maxDelaySeconds));
  return { interval: Math.min(Math.max(1, Math.ceil(delaySeconds)), longest), backoff, longest };
}

/** Returns the seconds between a failed attempt (counted from 1) and the next one. */
export function secondsAfter(retry: Retry, attempt: number): number {
  const { interval, backoff, longest } = retryWaits(retry);
  return Math.min(interval * backoff ** (attempt - 1), longest);
}

/** True if a node waits for `Retry-After`, in a state of its own: Step Functions fixes the delays of retries. */
export function heedsRetryAfter({ retry, executor }: { retry?: Retry; executor: { kind: string } }): boolean {
  return executor.kind === "code" && retry?.maxDelaySeconds !== undefined && retry.attempts > 1;
}

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** Reads the whole seconds of a `Retry-After`, at most `longest`; 0 for a past time and for any other text. */
export function retryAfterSeconds(header: string, nowMs: number, longest: number): number {
  const text = header.trim();
  if (/^\d{1,100}$/.test(text)) return Math.min(Number(text), longest);
  const seconds = httpDate.test(text) ? Math.ceil((Date.parse(text) - nowMs) / 1000) : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(0, seconds), longest);
}

/** Splits an entry of `on` into the name of an error and a text that the error's message must contain. */
export function retriedError(entry: string): { name: string; text: string } {
  const [name = "", ...text] = entry.trim().split(/\s+/);
  return { name, text: text.join(" ") };
}
