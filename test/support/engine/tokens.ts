import type { Json } from "./machine-data.ts";

/** Task tokens of Step Functions. Each accepts one answer while its task waits. */
export class Tokens {
  readonly #waiting = new Map<string, Json | undefined>();
  #issued = 0;

  issue(): string {
    const token = `token-of-states-${++this.#issued}`;
    this.#waiting.set(token, undefined);
    return token;
  }

  /** Answers the task with this token. Returns false if no task waits for the answer. */
  answer(token: string, output: Json): boolean {
    if (!this.#waiting.has(token) || this.#waiting.get(token) !== undefined) return false;
    this.#waiting.set(token, output);
    return true;
  }

  answerTo(token: string): Json | undefined {
    return this.#waiting.get(token);
  }

  revoke(token: string): void {
    this.#waiting.delete(token);
  }
}
