import { randomBytes } from "node:crypto";
import type { Json } from "../../../json.ts";
import { StateFailure } from "../failure.ts";
import type { PendingTask } from "../host.ts";

interface Waiting {
  lastBeatMs: number;
  succeed(output: Json): void;
  fail(error: StateFailure): void;
}

/** The tokens that may be answered, while their tasks wait, of executions that live no longer than this process. */
export class TaskTokens {
  readonly #waiting = new Map<string, Waiting>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(executionArn: string): PendingTask {
    const token = tokenOf(executionArn, randomBytes(SECRET_BYTES));
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(ignoreUnheard);
    const waiting: Waiting = { lastBeatMs: this.#now(), succeed: resolve, fail: reject };
    this.#waiting.set(token, waiting);
    return {
      token,
      get lastBeatMs() {
        return waiting.lastBeatMs;
      },
      answer: (over) => {
        over.addEventListener("abort", () => this.#waiting.delete(token), { once: true });
        return promise;
      },
    };
  }

  /** The answers say whether the token was awaited; the first answer ends the wait. */
  succeed(token: string, output: Json): boolean {
    const waiting = this.#take(token);
    waiting?.succeed(output);
    return waiting !== undefined;
  }

  fail(token: string, error: string | undefined, cause: string | undefined): boolean {
    const waiting = this.#take(token);
    waiting?.fail(new StateFailure(error, cause));
    return waiting !== undefined;
  }

  beat(token: string): boolean {
    const waiting = this.#waiting.get(token);
    if (waiting) waiting.lastBeatMs = this.#now();
    return waiting !== undefined;
  }

  #take(token: string): Waiting | undefined {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    return waiting;
  }
}

const SECRET_BYTES = 24;

/** Tokens name their execution, so that one which is no longer awaited can be told from one that never was. */
export function tokenOf(executionArn: string, secret: Uint8Array): string {
  return Buffer.concat([secret.subarray(0, SECRET_BYTES), Buffer.from(executionArn)]).toString("base64");
}

export function executionOfToken(token: string): string {
  return Buffer.from(token, "base64").subarray(SECRET_BYTES).toString();
}

/** An answer may come after its task timed out: then nobody awaits the promise, and that is no error. */
function ignoreUnheard(): void {
  return;
}
