import type { Json } from "../../json.ts";
import type { Purpose } from "../asl/host.ts";
import type { Input } from "../store/lines.ts";

/**
 * The kinds of requests. If the process dies, the work of a `lambda` request may be half done, so this request must not
 * be repeated. A `request` (of a function that gets a task token), a `start` (of a child) and a `read` may be repeated.
 * Requests of the other kinds only wait.
 */
type RequestKind = "lambda" | "request" | "start" | "read" | "token" | "child" | Purpose;

export interface PendingRequest {
  readonly kind: RequestKind;
  /** For a request that waits for a time: that time. */
  dueMs?: number;
  /** The task token for whose answer a `token` request waits. */
  readonly token?: string;
  /** The ARN of the execution for whose end a `child` request waits. */
  readonly child?: string;
  /** Identifies a `start` request, so that a repetition starts no second child. */
  readonly request?: string;
  /** Performs the request. The result is its answer. */
  readonly begin?: () => Promise<Json>;
  /** Called with the reason when the request is no longer needed. */
  readonly onOver?: (reason: unknown) => void;
  begun?: boolean;
}

/** The kinds of requests for which this process works. An execution with such a request is not parked. */
const AT_WORK: readonly RequestKind[] = ["lambda", "request", "start", "read", "retry"];

/** The unanswered requests of one execution by number. The first number is 1. */
export class PendingRequests {
  readonly #pending = new Map<number, PendingRequest & { over: AbortSignal; settle(input: Input): void }>();
  /** The `over` signals of time limits that are paused. If `undefined` is in the set, all time limits are paused. */
  readonly #still = new Set<AbortSignal | undefined>();
  readonly #onRequest: (number: number, request: PendingRequest) => void;
  #last = 0;

  /**
   * `onRequest` is called with each new request and its number. It starts the request, or answers it if the answer is
   * already known.
   */
  constructor(onRequest: (number: number, request: PendingRequest) => void) {
    this.#onRequest = onRequest;
  }

  /**
   * Adds a request. The promise settles with its answer. If `over` aborts first, there is no answer: a request that
   * waits for a time resolves, and any other request never settles.
   */
  request(request: PendingRequest, over: AbortSignal): Promise<Json> {
    const number = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(() => undefined); // An answer may arrive after the request is over. It is ignored.
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

  /** Answers the request that the input names. Returns whether there was such a request. */
  answer(input: Input): boolean {
    const pending = this.#pending.get(input.to);
    this.#pending.delete(input.to);
    pending?.settle(input);
    return pending !== undefined;
  }

  awaits(number: number): boolean {
    return this.#pending.has(number);
  }

  /**
   * Returns a copy of all requests with their numbers. It is a copy because a caller that starts the requests may
   * thereby answer some of them.
   */
  all(): [number, PendingRequest][] {
    return [...this.#pending];
  }

  numberOf(key: "token" | "child" | "request", value: string): number | undefined {
    return this.#pending.entries().find(([, request]) => request[key] === value)?.[0];
  }

  get isAtWork(): boolean {
    return this.#pending.values().some(({ begun, kind }) => begun === true && AT_WORK.includes(kind));
  }

  /** Returns whether a function may be in the middle of work that must not happen twice. */
  get isInFunction(): boolean {
    return this.#pending.values().some(({ kind }) => kind === "lambda");
  }

  /**
   * Returns the time at which the execution next has work: 0 if a request can be started now, and null if the execution
   * only waits for answers.
   */
  get dueMs(): number | null {
    const dues = this.#pending.values().map((one) => (one.begin && !one.begun ? 0 : this.#dueMsOf(one)));
    return dues.filter((due) => due !== undefined).reduce<number | null>((a, b) => Math.min(a ?? b, b), null);
  }

  /** Postpones time limits by `ms`: the limit with this `over`, or all limits if `over` is absent. */
  postponeDeadlines(ms: number, over?: AbortSignal): void {
    for (const request of this.#pending.values()) {
      if (request.kind !== "deadline" || request.dueMs === undefined) continue;
      if (over === undefined || request.over === over) request.dueMs += ms;
    }
  }

  /**
   * Pauses the time limit with this `over`, or all time limits if `over` is absent. The returned function continues the
   * same time limits. Its argument is the time for which they were paused.
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

  /** Returns the numbers of the requests whose time has come, the earliest first. */
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
