import { randomBytes } from "node:crypto";
import { StateFailure } from "../failure.ts";
import type { Json } from "../json.ts";

/** One task that waits for its answer from outside. */
export interface PendingTask {
  readonly token: string;
  /** Settles with the answer; a rejection is a StateFailure. */
  readonly answer: Promise<Json>;
  /** When the task last showed life, in milliseconds since the epoch. */
  lastBeatMs: number;
}

/** The tokens that SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat may name, while their tasks wait. */
export class TaskTokens {
  readonly #waiting = new Map<
    string,
    { task: PendingTask; succeed(output: Json): void; fail(error: StateFailure): void }
  >();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Tokens name their execution, so that one which is no longer awaited can be told from one that never was. */
  issue(executionArn: string): PendingTask {
    const token = Buffer.concat([randomBytes(24), Buffer.from(executionArn)]).toString("base64");
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(ignoreUnheard);
    const task = { token, answer: promise, lastBeatMs: this.#now() };
    this.#waiting.set(token, { task, succeed: resolve, fail: reject });
    return task;
  }

  revoke(token: string): void {
    this.#waiting.delete(token);
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
    if (waiting) waiting.task.lastBeatMs = this.#now();
    return waiting !== undefined;
  }

  #take(token: string) {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    return waiting;
  }
}

export function executionOfToken(token: string): string {
  return Buffer.from(token, "base64").subarray(24).toString();
}

/** An answer may come after its task timed out: then nobody awaits the promise, and that is no error. */
function ignoreUnheard(): void {
  return;
}
