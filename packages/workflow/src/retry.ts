/**
 * Every error class of a run. `retry` says how Step Functions retries it. `attempt`: the error can end an attempt of a
 * node, so the node's `retry` may name the error.
 */
export const runErrors = {
  /** The code failed, or its output cannot be stored. */
  NodeFailed: { retry: "never", attempt: true },
  NodeTimeout: { retry: "never", attempt: true },
  /** The sandbox disappeared, and the code may have started in it. */
  NodeInterrupted: { retry: "never", attempt: true },
  BudgetExceeded: { retry: "never" },
  /** The model of an agent repeats a call whose result it has. */
  CallRepeated: { retry: "never" },
  /** The model of an agent has used all steps and requests more calls. */
  StepsUsedUp: { retry: "never" },
  /** The provider of the model refuses the key, or does not answer even after the HTTP client's own retries. */
  ModelUnavailable: { retry: "never", attempt: true },
  /** The run was closed while this delivery was at work. */
  ExecutionClosed: { retry: "never" },
  /** The chain of work contradicts itself. That is a bug in NOVA. */
  ChainBroken: { retry: "never" },
  /** No sandbox is available, so no code has started. Step Functions retries for 30 minutes, at most 60 s apart. */
  SandboxUnavailable: { retry: "patient" },
  /**
   * An attempt failed, and the node's `retry` allows another attempt. Step Functions starts the next attempt after the
   * delay.
   */
  NodeRetry: { retry: "as the node says" },
  /** The code outlives this Lambda. The next delivery attaches to the running code. */
  NodeUnfinished: { retry: "at once" },
} as const satisfies Record<string, { retry: "never" | "patient" | "at once" | "as the node says"; attempt?: true }>;

export type RunErrorClass = keyof typeof runErrors;

/**
 * The setting `retry` of a node: its author wants failed code to run again, and is responsible for repeated side
 * effects.
 */
export interface Retry {
  attempts: number;
  delaySeconds: number;
  backoff?: number;
  maxDelaySeconds?: number;
  /** True if each delay is drawn at random, from 0 to its full length. */
  jitter?: true;
  on?: string[];
}

export const maxRetryAttempts = 20;

/** Maximum number of attempts of a prompt node. It is small, because each attempt asks models up to three times. */
export const maxPromptAttempts = 5;

export const longestDelaySeconds = 86_400;

/** Error classes that can end an attempt, so that the node's `retry` may start another. */
export const retriedErrors = Object.keys(runErrors).filter(
  (name) => "attempt" in runErrors[name as RunErrorClass],
) as readonly RunErrorClass[];

/** Other names of error classes, which workflows from other systems use. */
export const errorAliases: Readonly<Record<string, RunErrorClass>> = {
  CodeExecutionError: "NodeFailed",
  E2BTimeoutError: "NodeTimeout",
  E2BSandboxError: "NodeInterrupted",
  E2BConnectionError: "SandboxUnavailable",
};

/**
 * Returns the delays of a retry for Step Functions, in whole seconds from 1 on. With jitter, `interval` is the upper
 * limit of the first delay.
 */
export function retryWaits({ delaySeconds, backoff = 1, maxDelaySeconds = longestDelaySeconds }: Retry) {
  const longest = Math.max(1, Math.ceil(maxDelaySeconds));
  return { interval: Math.min(Math.max(1, Math.ceil(delaySeconds)), longest), backoff, longest };
}

/** Returns the seconds between a failed attempt (counted from 1) and the next one. */
export function secondsAfter(retry: Retry, attempt: number): number {
  const { interval, backoff, longest } = retryWaits(retry);
  return Math.min(interval * backoff ** (attempt - 1), longest);
}

/**
 * Returns true if a node waits for the time in `Retry-After`. It does so in a separate state, because the delays of a
 * retry in Step Functions are fixed.
 */
export function heedsRetryAfter({ retry, executor }: { retry?: Retry; executor: { kind: string } }): boolean {
  return executor.kind === "code" && retry?.maxDelaySeconds !== undefined && retry.attempts > 1;
}

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Returns the whole seconds that a `Retry-After` header asks for, at most `longest`. A past time or an invalid header
 * gives 0.
 */
export function retryAfterSeconds(header: string, nowMs: number, longest: number): number {
  const text = header.trim();
  if (/^\d{1,100}$/.test(text)) return Math.min(Number(text), longest);
  const seconds = httpDate.test(text) ? Math.ceil((Date.parse(text) - nowMs) / 1000) : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(0, seconds), longest);
}

/** Splits an entry of `retry.on` into the name of an error and a text that the error's message must contain. */
export function retriedError(entry: string): { name: string; text: string } {
  const [name = "", ...text] = entry.trim().split(/\s+/);
  return { name, text: text.join(" ") };
}
