import { NovaError } from "@nova/engine";
import { isConnectionFailure } from "./failures.ts";

const toleratedFailures = 5;
const openMs = 5_000;

/**
 * Keeps the calls few while E2B cannot be reached: after several connection failures in a row it fails at once for some
 * seconds. Answers of any kind, refusals too, close it.
 */
export class Breaker {
  #failures = 0;
  #openUntil = 0;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async guard<T>(call: () => Promise<T>): Promise<T> {
    if (this.#now() < this.#openUntil)
      throw new NovaError("SandboxUnavailable", "E2B cannot be reached - check the network and E2B's status page");
    try {
      const answer = await call();
      this.#failures = 0;
      return answer;
    } catch (error) {
      this.#count(error);
      throw error;
    }
  }

  #count(error: unknown): void {
    this.#failures = isConnectionFailure(error) ? this.#failures + 1 : 0;
    if (this.#failures >= toleratedFailures) this.#openUntil = this.#now() + openMs;
  }
}
