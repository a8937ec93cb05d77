import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";

/** Thrown if a check exceeded its time, memory or stack. The message completes "checking it ...". */
export class CheckStopped extends Error {
  override name = "CheckStopped";

  /**
   * Converts an error of the thread about exhausted memory or stack into a `CheckStopped`; returns undefined for any
   * other error. WebAssembly reports an exhausted stack as `RuntimeError`.
   */
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
  /**
   * Returns the URL of the module that calls `serve`. It imports the module dynamically, so that the module is a
   * separate file in a bundle.
   */
  address: () => Promise<string>;
  deadlineMs: number;
}

/**
 * The largest JavaScript heap of the thread, for Lambda functions of at least 512 MB. WebAssembly's memory is not
 * included.
 */
const maxHeapMb = 384;

/**
 * Runs calls on untrusted texts in a thread, so that they do not block the event loop. If a call reaches its deadline,
 * the worker stops the thread. The thread runs one call at a time, so this stops no other call. After each failed call,
 * the next call gets a new thread. The state of the old thread is unknown: WebAssembly does not recover from a stack
 * overflow.
 */
export class DeadlineWorker {
  readonly #options: DeadlineWorkerOptions;
  #worker: Worker | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: DeadlineWorkerOptions) {
    this.#options = options;
  }

  /**
   * Calls a function in the thread. Its arguments and its result must be plain data, because they are copied. Throws
   * `CheckStopped`, or the error of the function.
   */
  call<T>(method: string, ...args: unknown[]): Promise<T> {
    const answer = this.#previous.then(() => this.#ask<T>({ method, args }));
    this.#previous = answer.catch(() => undefined);
    return answer;
  }

  /** Calls a function in the thread, like `call`, but returns `stopped(reason)` instead of throwing `CheckStopped`. */
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
      // A thread without a call must not keep the process alive.
      worker.unref();
    }
  }

  async #start(): Promise<Worker> {
    const { name, address } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
    // The thread gets no command-line options of the process, because these may name files that the thread cannot load.
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

/**
 * The message of the thread after a call. The thread sends an error as plain data, because a copied error loses its
 * class.
 */
export type Answer = { value: unknown } | { error: { name: string; message: string; stack?: string | undefined } };

/**
 * The first message of a thread, which it sends after it has loaded its code. The deadline of a call starts after this
 * message.
 */
const ready = "ready";

type Methods = Record<string, (...args: never[]) => unknown>;

/** Answers the calls of the `DeadlineWorker` with this name. Does nothing outside the thread of this worker. */
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
