import { type Clock, systemClock } from "../../../packages/aws-local/src/clock.ts";
import {
  createInvocation,
  type Invocation,
  raceDeadline,
} from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import type { InvokeObserved } from "./chaos.ts";
import { WorkerSandbox } from "./worker-sandbox.ts";

export interface WorkerLambdaOptions {
  /** The URL of a module that exports `functions`, and `serviceFunctions` if it has any (LambdaFunctions). */
  entry: URL;
  /** Variables to add to the variables of this process. */
  env?: Record<string, string>;
  /** The maximum of invocations that run at the same time. Further ones wait. */
  concurrency?: number;
  clock?: Clock;
}

export interface WorkerLambdaRuntime {
  /** Invokes a function. If the signal aborts, the invocation is killed at once, even in the middle of its work. */
  invokeLambda: InvokeObserved;
  /** Kills all running invocations. */
  close(): Promise<void>;
}

/** Runs each invocation in its own thread, so that a signal or its deadline can kill it at any point. */
export function createWorkerLambdaRuntime(options: WorkerLambdaOptions): WorkerLambdaRuntime {
  const { entry, concurrency = 8, clock = systemClock } = options;
  const pool = new SandboxPool(() => new WorkerSandbox(entry, { ...process.env, ...options.env }), concurrency);

  const invokeLambda: InvokeObserved = async (functionArn, payload, signal, onBegin) => {
    const sandbox = await pool.take();
    try {
      const loaded = await sandbox.loaded;
      if ("ok" in loaded) return loaded;
      const invocation = createInvocation(functionArn, payload, loaded, clock);
      onBegin?.();
      return await runOrKill(sandbox, invocation, clock, signal);
    } finally {
      pool.giveBack(sandbox);
    }
  };

  return { invokeLambda, close: () => pool.close() };
}

async function runOrKill(
  sandbox: WorkerSandbox,
  invocation: Invocation,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<LambdaResult> {
  let answered = false;
  const call = sandbox.run(invocation).finally(() => {
    answered = true;
  });
  try {
    return await raceDeadline(call, invocation, clock, signal);
  } finally {
    if (!answered) await sandbox.kill();
  }
}

/** A pool of threads that have loaded the functions. It starts threads on demand and reuses them. */
class SandboxPool {
  readonly #start: () => WorkerSandbox;
  readonly #most: number;
  readonly #all = new Set<WorkerSandbox>();
  readonly #idle: WorkerSandbox[] = [];
  readonly #waiting: ((sandbox: WorkerSandbox) => void)[] = [];

  constructor(start: () => WorkerSandbox, most: number) {
    this.#start = start;
    this.#most = most;
  }

  async take(): Promise<WorkerSandbox> {
    const idle = this.#idle.pop();
    if (idle) {
      idle.setIdle(false);
      return idle;
    }
    if (this.#all.size < this.#most) return this.#add();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  giveBack(sandbox: WorkerSandbox): void {
    if (sandbox.dead) this.#all.delete(sandbox);
    const next = this.#waiting.shift();
    if (next) next(sandbox.dead ? this.#add() : sandbox);
    else if (!sandbox.dead) {
      sandbox.setIdle(true);
      this.#idle.push(sandbox);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((sandbox) => sandbox.kill()));
  }

  #add(): WorkerSandbox {
    const sandbox = this.#start();
    this.#all.add(sandbox);
    return sandbox;
  }
}
