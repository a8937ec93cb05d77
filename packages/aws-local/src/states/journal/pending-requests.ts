import type { Json } from "../../json.ts";
import type { Purpose } from "../asl/host.ts";
import type { Input } from "../store/lines.ts";

/**
 * The kinds of requests. A `lambda` may be half done when the process dies. A `request` (a function with a task token),
 * a `start` (of a child) and a `read` may be repeated. The other kinds do no work.
 */
type RequestKind = "lambda" | "request" | "start" | "read" | "token" | "child" | Purpose;

export interface PendingRequest {
  readonly kind: RequestKind;
  /** The time that answers the request. */
  dueMs?: number;
  /** The token of a `token` request. */
  readonly token?: string;
  /** The ARN of a `child`. */
  readonly child?: string;
  /** Identifies a `start`. */
  readonly request?: string;
  /** Starts the work that answers the request. */
  readonly begin?: () => Promise<Json>;
  /** Called with the reason when the request is no longer needed. */
  readonly onOver?: (reason: unknown) => void;
  begun?: boolean;
}

/** Kinds that keep an execution from being parked. */
const AT_WORK: readonly RequestKind[] = ["lambda", "request", "start", "read", "retry"];

/** The unanswered requests of one execution by number. The first number is 1. */
export class PendingRequests {
  readonly #pending = new Map<number, PendingRequest & { over: AbortSignal; settle(input: Input): void }>();
  /** The signals whose time limits stand still; undefined: all time limits do. */
  readonly #still = new Set<AbortSignal | undefined>();
  readonly #onRequest: (number: number, request: PendingRequest) => void;
  #last = 0;

  /** `onRequest` receives each request that has to be started, or that may have an answer already. */
  constructor(onRequest: (number: number, request: PendingRequest) => void) {
    this.#onRequest = onRequest;
  }

  /** Settles with the answer. After `over` there is no answer; only requests for time resolve then. */
  request(request: PendingRequest, over: AbortSignal): Promise<Json> {
    const number = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(() => undefined); // an answer may come after the request is over, which is no error
    const withdraw = () => {
      this.#pending.delete(number);
      request.onOver?.(over.reason);
      if (request.dueMs !== undefined) resolve(null);
    };
    if (over.aborted) {
      withdraw();
      return promise;
    }
    over.addEventListener("abort", withdraw, { once: true });
    const settle = ({ value = null, error }: Input) => {
      over.removeEventListener("abort", withdraw);
      if (error) reject(Object.assign(new Error(error.message), { name: error.name }));
      else resolve(value);
    };
    const pending = { ...request, over, settle };
    this.#pending.set(number, pending);
    this.#onRequest(number, pending);
    return promise;
  }

  /** Answers a request. Returns whether the input was awaited. */
  answer(input: Input): boolean {
    const pending = this.#pending.get(input.to);
    this.#pending.delete(input.to);
    pending?.settle(input);
    return pending !== undefined;
  }

  awaits(number: number): boolean {
    return this.#pending.has(number);
  }

  /** All requests; some of them may be answered while they are started. */
  all(): [number, PendingRequest][] {
    return [...this.#pending];
  }

  numberOf(key: "token" | "child" | "request", value: string): number | undefined {
    return this.#pending.entries().find(([, request]) => request[key] === value)?.[0];
  }

  get isAtWork(): boolean {
    return this.#pending.values().some(({ begun, kind }) => begun === true && AT_WORK.includes(kind));
  }

  /** Whether a function may be in the middle of work that must not happen twice. */
  get isInFunction(): boolean {
    return this.#pending.values().some(({ kind }) => kind === "lambda");
  }

  /** The time of the next work; 0: now, because a request has not been started. */
  get dueMs(): number | null {
    const dues = this.#pending.values().map((one) => (one.begin && !one.begun ? 0 : this.#dueMsOf(one)));
    return dues.filter((due) => due !== undefined).reduce<number | null>((a, b) => Math.min(a ?? b, b), null);
  }

  /** Moves time limits by `ms`: the one that `over` ends, or all of them. */
  postponeDeadlines(ms: number, over?: AbortSignal): void {
    for (const request of this.#pending.values()) {
      if (request.kind !== "deadline" || request.dueMs === undefined) continue;
      if (over === undefined || request.over === over) request.dueMs += ms;
    }
  }

  /**
   * Stops the time limit that `over` ends, or all of them, until the returned function is called with the elapsed time.
   */
  standStill(over?: AbortSignal): (ms: number) => void {
    this.#still.add(over);
    return (ms) => {
      this.#still.delete(over);
      this.postponeDeadlines(ms, over);
    };
  }

  #dueMsOf({ kind, dueMs, over }: PendingRequest & { over: AbortSignal }): number | undefined {
    const isStill = kind === "deadline" && (this.#still.has(undefined) || this.#still.has(over));
    return isStill ? undefined : dueMs;
  }

  /** The requests that time has answered, the earliest first. */
  dueBy(nowMs: number): number[] {
    const due = [...this.#pending].map(([number, request]) => ({
      number,
      dueMs: this.#dueMsOf(request) ?? Number.NaN,
    }));
    return due
      .filter(({ dueMs }) => dueMs <= nowMs)
      .sort((a, b) => a.dueMs - b.dueMs)
      .map(({ number }) => number);
  }
}
