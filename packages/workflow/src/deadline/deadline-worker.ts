import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";

/** A check of a text exceeded its time, memory or stack. The message completes "checking it ...". */
export class CheckStopped extends Error {
  override name = "CheckStopped";

  /** Returns undefined for every other error. WebAssembly reports an exhausted stack as `RuntimeError`. */
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
  name: string;
  /** URL of the module that calls `serve`. A dynamic import keeps it a separate file in a bundle. */
  address: () => Promise<string>;
  deadlineMs: number;
}

/** AWS Lambda: functions have 512 MB and more. WebAssembly's memory is not included. */
const maxHeapMb = 384;

/**
 * A thread for work on untrusted texts. It stops at its deadline and leaves the event loop free. One call runs at a
 * time, so a deadline stops no other call. A thread is replaced after a failed call, because its state is unknown
 * (WebAssembly does not recover from a stack overflow).
 */
export class DeadlineWorker {
  readonly #options: DeadlineWorkerOptions;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: DeadlineWorkerOptions) {
    this.#options = options;
  }

  /** Arguments and result are copied: plain data. Throws `CheckStopped`, or the error of the function. */
  call<T>(method: string, ...args: unknown[]): Promise<T> {
    const answer = this.#previous.then(() => this.#ask<T>({ method, args }));
    this.#previous = answer.catch(() => undefined);
    return answer;
  }

  /** Like `call`, but returns `stopped(reason)` if the check is stopped. */
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
    // Options of the process may name files that the thread does not have.
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

export interface Call {
  method: string;
  args: unknown[];
}

/** The answer to a call. An error is plain data, because a copy loses its class. */
export type Answer = { value: unknown } | { error: { name: string; message: string; stack?: string | undefined } };

/** The first message of a thread. Loading its code counts towards no deadline. */
const ready = "ready";

type Methods = Record<string, (...args: never[]) => unknown>;

/** Answers the calls of the `DeadlineWorker` with this name. In every other thread it loads and does nothing. */
export function serve(name: string, load: () => Promise<Methods>): void {
  if (!parentPort || workerData !== name) return;
  const port = parentPort;
  void load().then((methods) => {
    port.on("message", async (call: Call) => port.postMessage(await answerTo(call, methods)));
    port.postMessage(ready);
  });
}

async function answerTo({ method, args }: Call, methods: Methods): Promise<Answer> {
  try {
    return { value: await methods[method]?.(...(args as never[])) };
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message, stack } };
  }
}
