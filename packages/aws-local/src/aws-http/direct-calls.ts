import { AwsError } from "./aws-error.ts";

/**
 * Counts the calls that code of this process makes without HTTP, so that a closing service waits for these calls, too.
 */
export class DirectCalls {
  readonly #service: string;
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  /** `service` is the name of the service in the error for calls after `close`. */
  constructor(service: string) {
    this.#service = service;
  }

  /**
   * Performs a call. Throws an error with status 503 if `close` was called before this method, or before the call
   * failed.
   */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw this.#closedError();
    const running = call();
    this.#open.add(running);
    try {
      return await running;
    } catch (error) {
      throw this.#isClosed ? this.#closedError() : error;
    } finally {
      this.#open.delete(running);
    }
  }

  /** Refuses further calls. Resolves when no call is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
  }

  #closedError(): AwsError {
    return new AwsError("ServiceUnavailable", `The local ${this.#service} is closed.`, 503);
  }
}
