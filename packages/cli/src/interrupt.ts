import { once } from "node:events";
import { exitCodes } from "./errors.ts";

/**
 * Milliseconds within which several requests count as one. One Ctrl-C can arrive several times: from the terminal, from
 * npm, and from a parent process of Node that forwards the signal.
 */
const sameRequestMs = 300;

/**
 * Counts requests to end the process: Ctrl-C, or a signal. The first request resolves `requested`, and the command
 * cleans up. A later request resolves `requestedAgain` if a caller waits for it. If no caller waits, a later request
 * ends the process at once.
 */
export class Interrupt {
  #requests = 0;
  #taken = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #events = new EventTarget();

  constructor() {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => this.#request());
  }

  get wasRequested(): boolean {
    return this.#requests > 0;
  }

  /** Resolves at the first request to end. */
  async requested(): Promise<void> {
    if (!this.wasRequested) await once(this.#events, "request");
  }

  /** Resolves at the next request to end. */
  async requestedAgain(): Promise<void> {
    this.#taken = this.#requests + 1;
    await once(this.#events, "request");
  }

  #request(): void {
    const isSame = performance.now() - this.#lastMs < sameRequestMs;
    this.#lastMs = performance.now();
    if (isSame) return;
    this.#requests += 1;
    if (this.#requests > Math.max(1, this.#taken)) process.exit(exitCodes.interrupted);
    this.#events.dispatchEvent(new Event("request"));
  }
}
