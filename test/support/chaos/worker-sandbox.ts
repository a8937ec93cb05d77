import { Worker } from "node:worker_threads";
import { type Invocation, killedError } from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";

export type FromWorker =
  /** The thread has loaded the module. `ready` has the timeout of each function in seconds. */
  | { ready: ReadonlyMap<string, number> }
  | { answer: LambdaResult }
  /** The thread cannot load the module. */
  | { broken: LambdaResult };

/** A worker thread that has loaded the functions and runs one invocation at a time. */
export class WorkerSandbox {
  readonly #worker: Worker;
  #settle: PromiseWithResolvers<LambdaResult> | undefined;
  #dead = false;
  /** Resolves with the timeout of each function, or with a failed LambdaResult if the thread cannot load the module. */
  readonly loaded: Promise<ReadonlyMap<string, number> | LambdaResult>;

  constructor(entry: URL, env: NodeJS.ProcessEnv) {
    this.#worker = new Worker(new URL("./worker-main.ts", import.meta.url), { workerData: entry.href, env });
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, number> | LambdaResult>();
    this.loaded = promise;
    promise.catch(ignore);
    this.#worker.on("message", (message: FromWorker) => {
      if ("ready" in message) resolve(message.ready);
      else if ("broken" in message) resolve(message.broken);
      else this.#settle?.resolve(message.answer);
    });
    const die = () => {
      this.#dead = true;
      reject(killedError());
      this.#settle?.reject(killedError());
    };
    this.#worker.on("error", die);
    this.#worker.on("exit", die);
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Runs an invocation. Rejects with Lambda's error for a killed function if the thread ends meanwhile. */
  async run(invocation: Invocation): Promise<LambdaResult> {
    if (this.#dead) throw killedError();
    this.#settle = Promise.withResolvers();
    this.#worker.postMessage(invocation);
    return this.#settle.promise;
  }

  /**
   * Notes whether the thread is idle, which means that it runs no invocation. An idle thread does not keep the process
   * alive.
   */
  setIdle(idle: boolean): void {
    if (idle) this.#worker.unref();
    else this.#worker.ref();
  }

  async kill(): Promise<void> {
    this.#dead = true;
    await this.#worker.terminate();
  }
}

/** Avoids an unhandled rejection of `loaded` if the thread ends before its first use. */
function ignore(): void {
  return;
}
