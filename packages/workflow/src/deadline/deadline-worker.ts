import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Answer, Call } from "./serve.ts";

/** A check of a text took more time, memory or stack than it may have. The message completes "checking it ...". */
export class CheckStopped extends Error {
  override name = "CheckStopped";

  /** Undefined for every other error. `RuntimeError` is how WebAssembly ends that has no stack left. */
  static from(error: unknown): CheckStopped | undefined {
    if (error instanceof CheckStopped) return error;
    if (!(error instanceof Error)) return undefined;
    if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY")
      return new CheckStopped("takes more memory than there is", { cause: error });
    const isOverflow = error.name === "RuntimeError" || /call stack/i.test(error.message);
    return isOverflow ? new CheckStopped("goes too many levels deep", { cause: error }) : undefined;
  }
}

interface DeadlineWorkerOptions {
  /** Name that the module passes to `serve`. */
  name: string;
  /** The URL of the module that calls `serve`. Imported dynamically, it is a file of its own in a bundle, too. */
  address: () => Promise<string>;
  deadlineMs: number;
}

/** AWS Lambda: functions have 512 MB and more. WebAssembly's memory does not count into it. */
const maxHeapMb = 384;

/**
 * A thread for work on texts of strangers, which ends when its time is over, while the event loop goes on. One call
 * runs at a time, so that a deadline ends no call but its own. A thread whose call failed is replaced: nobody knows
 * the state it is in (WebAssembly does not recover from an overflow of its stack).
 */
export class DeadlineWorker {
  readonly #options: DeadlineWorkerOptions;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: DeadlineWorkerOptions) {
    this.#options = options;
  }

  /** Arguments and result are copied, so they are plain data. Throws `CheckStopped`, or what the function threw. */
  call<T>(method: string, ...args: unknown[]): Promise<T> {
    const answer = this.#previous.then(() => this.#ask<T>({ method, args }));
    this.#previous = answer.catch(() => undefined);
    return answer;
  }

  /** The same; where the check is stopped, the answer is what `stopped` makes of the reason. */
  callOr<T>(stopped: (why: string) => T, method: string, ...args: unknown[]): Promise<T> {
    return this.call<T>(method, ...args).catch((error) => {
      if (error instanceof CheckStopped) return stopped(error.message);
      throw error;
    });
  }

  async #ask<T>(call: Call): Promise<T> {
    const { deadlineMs } = this.#options;
    const tooLong = `takes more than ${deadlineMs / 1000} seconds`;
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting = waiting;
    const timer = setTimeout(() => waiting.reject(new CheckStopped(tooLong)), deadlineMs);
    try {
      worker.ref();
      worker.postMessage(call);
      const answer = await waiting.promise;
      if ("value" in answer) return answer.value as T;
      throw Object.assign(new Error(), answer.error);
    } catch (error) {
      this.#worker = undefined;
      void worker.terminate();
      throw CheckStopped.from(error) ?? error;
    } finally {
      clearTimeout(timer);
      // An idle thread does not keep a process alive.
      worker.unref();
    }
  }

  async #start(): Promise<Worker> {
    const { name, address } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
    // Options of the process may say how to read its first file, which the thread does not have.
    const worker = new Worker(new URL(await address()), { workerData: name, resourceLimits, execArgv: [] });
    const ended = once(worker, "exit").then(([code]) =>
      Promise.reject(new Error(`the thread "${name}" ended: ${code}`)),
    );
    await Promise.race([once(worker, "message"), ended]);
    const isCurrent = () => this.#worker === worker;
    worker.on("message", (answer: Answer) => isCurrent() && this.#waiting?.resolve(answer));
    worker.on("error", (error) => isCurrent() && this.#waiting?.reject(error));
    worker.on("exit", (code) => {
      if (!isCurrent()) return;
      this.#worker = undefined;
      this.#waiting?.reject(new Error(`the thread "${name}" ended with code ${code}`));
    });
    return worker;
  }
}
