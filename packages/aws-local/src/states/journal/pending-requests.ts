import type { Json } from "../../json.ts";
import type { Purpose } from "../asl/host.ts";
import type { Input } from "../store/lines.ts";

/**
 * What an execution waits for. A `lambda` may have done half its work when the process dies; a `request` (a function
 * that is given a task token), a `start` (of a child) and a `read` may be made once more; the others are not at work at all.
 */
type RequestKind = "lambda" | "request" | "start" | "read" | "token" | "child" | Purpose;

export interface PendingRequest {
  readonly kind: RequestKind;
  /** When time answers it. */
  dueMs?: number;
  /** Of a `token`. */
  readonly token?: string;
  /** The ARN of a `child`. */
  readonly child?: string;
  /** Names a `start`. */
  readonly request?: string;
  /** Begins what answers it. */
  readonly begin?: () => Promise<Json>;
  /** Called when nobody waits any more, with the reason. */
  readonly onOver?: (reason: unknown) => void;
  begun?: boolean;
}

/** Kinds that keep an execution from being parked. */
const AT_WORK: readonly RequestKind[] = ["lambda", "request", "start", "read", "retry"];

/** What one execution has asked for and not been answered, by number: the first is 1. */
export class PendingRequests {
  readonly #pending = new Map<number, PendingRequest & { over: AbortSignal; settle(input: Input): void }>();
  /** Whose time limits stand still; undefined: all of them do. */
  readonly #still = new Set<AbortSignal | undefined>();
  readonly #onRequest: (number: number, request: PendingRequest) => void;
  #last = 0;

  /** `onRequest` hears of each request that somebody has to begin, or may have an answer already. */
  constructor(onRequest: (number: number, request: PendingRequest) => void) {
    this.#onRequest = onRequest;
  }

  /** Settles with the answer. After `over` there is none; time alone resolves then, as it does when it has passed. */
  request(request: PendingRequest, over: AbortSignal): Promise<Json> {
    const number = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(() => undefined); // an answer may find nobody who waits any more, and that is no error
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

  /** Answers whether the input was awaited. */
  answer(input: Input): boolean {
    const pending = this.#pending.get(input.to);
    this.#pending.delete(input.to);
    pending?.settle(input);
    return pending !== undefined;
  }

  awaits(number: number): boolean {
    return this.#pending.has(number);
  }

  /** What may be begun: some of it may be answered at once. */
  all(): [number, PendingRequest][] {
    return [...this.#pending];
  }

  numberOf(key: "token" | "child" | "request", value: string): number | undefined {
    return this.#pending.entries().find(([, request]) => request[key] === value)?.[0];
  }

  get isAtWork(): boolean {
    return this.#pending.values().some(({ begun, kind }) => begun === true && AT_WORK.includes(kind));
  }

  /** A function may be in the middle of something that must not be done twice. */
  get isInFunction(): boolean {
    return this.#pending.values().some(({ kind }) => kind === "lambda");
  }

  /** When there is something to do; 0: at once, since something was not begun yet. */
  get dueMs(): number | null {
    const dues = this.#pending.values().map((one) => (one.begin && !one.begun ? 0 : this.#dueMsOf(one)));
    return dues.filter((due) => due !== undefined).reduce<number | null>((a, b) => Math.min(a ?? b, b), null);
  }

  /** Time limits move, by so many milliseconds: the one that `over` ends, or all of them. */
  postponeDeadlines(ms: number, over?: AbortSignal): void {
    for (const request of this.#pending.values()) {
      if (request.kind !== "deadline" || request.dueMs === undefined) continue;
      if (over === undefined || request.over === over) request.dueMs += ms;
    }
  }

  /** The time limit that `over` ends, or all of them, stand still until the answer is called with how long that was. */
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

  /** What time has answered by now, the earliest first. */
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
