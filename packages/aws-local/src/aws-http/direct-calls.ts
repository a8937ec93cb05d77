import { AwsError } from "./aws-error.ts";

/** Counts the calls that code of this process makes without HTTP, so that a close can wait for them as for requests. */
export class DirectCalls {
  readonly #service: string;
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  /** `service`: its name in the error for calls after the close. */
  constructor(service: string) {
    this.#service = service;
  }

  /**
   * Performs a call. Throws an error with status 503 after `close` was called, and if a call fails because of the
   * close.
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
