import type { Json } from "../../json.ts";
import type { Input } from "../store/lines.ts";

/**
 * What an execution waits for. A `lambda` may have done half its work when the process dies; a `request` (a function
 * that is given a task token), a `start` (of a child) and a `read` may be made once more; the others are not at work at all.
 */
export type RequestKind = "lambda" | "request" | "start" | "read" | "retry" | "wait" | "deadline" | "token" | "child";

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

type Key = "token" | "child" | "request";

interface Pending extends PendingRequest {
  settle(input: Input): void;
}

/** Kinds that keep an execution from being parked. */
const AT_WORK = new Set<RequestKind>(["lambda", "request", "start", "read", "retry"]);

/** What one execution has asked for and not been answered, by number: the first is 1. */
export class PendingRequests {
  readonly #pending = new Map<number, Pending>();
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
    promise.catch(ignoreUnheard);
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
    const pending = { ...request, settle };
    this.#pending.set(number, pending);
    this.#onRequest(number, pending);
    return promise;
  }

  /** Answers whether the input was awaited. */
  answer(input: Input): boolean {
    const pending = this.#pending.get(input.to);
    if (!pending) return false;
    this.#pending.delete(input.to);
    pending.settle(input);
    return true;
  }

  awaits(number: number): boolean {
    return this.#pending.has(number);
  }

  all(): Iterable<[number, PendingRequest]> {
    return this.#pending;
  }

  numberOf(key: Key, value: string): number | undefined {
    for (const [number, request] of this.#pending) if (request[key] === value) return number;
    return undefined;
  }

  get isAtWork(): boolean {
    return this.#some(({ begun, kind }) => begun === true && AT_WORK.has(kind));
  }

  /** A function may be in the middle of something that must not be done twice. */
  get isInFunction(): boolean {
    return this.#some(({ kind }) => kind === "lambda");
  }

  /** When there is something to do; 0: at once, since something was not begun yet. */
  get dueMs(): number | null {
    let due: number | null = null;
    for (const { begin, begun, dueMs } of this.#pending.values()) {
      if (begin && !begun) return 0;
      if (dueMs !== undefined) due = Math.min(dueMs, due ?? dueMs);
    }
    return due;
  }

  postpone(kind: RequestKind, ms: number): void {
    for (const request of this.#pending.values())
      if (request.kind === kind && request.dueMs !== undefined) request.dueMs += ms;
  }

  /** What time has answered by now, the earliest first. */
  dueBy(nowMs: number): number[] {
    const due = [...this.#pending].filter(([, { dueMs }]) => dueMs !== undefined && dueMs <= nowMs);
    return due.sort(([, a], [, b]) => (a.dueMs as number) - (b.dueMs as number)).map(([number]) => number);
  }

  #some(test: (request: PendingRequest) => boolean): boolean {
    for (const request of this.#pending.values()) if (test(request)) return true;
    return false;
  }
}

/** An answer may find nobody who waits any more, and that is no error. */
function ignoreUnheard(): void {
  return;
}
