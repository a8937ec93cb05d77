import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../clock.ts";
import type { InvokeLambda, LambdaResult } from "../lambda-types.ts";
import { assertPayloadFits, type Invocation } from "./call-handler.ts";
import { functionNameOf, functionNotFound } from "./lambda-function.ts";
import { withDeadline } from "./lambda-runtime.ts";
import { WorkerSandbox } from "./worker-sandbox.ts";

export interface WorkerLambdaOptions {
  /** A module that exports `functions`, and `serviceFunctions` where it has them (LambdaFunctions). */
  entry: URL;
  /** Laid over this process's variables. */
  env?: Record<string, string>;
  /** Invocations that run at the same time; the others wait for their turn. */
  concurrency?: number;
  clock?: Clock;
}

export interface WorkerLambdaRuntime {
  /** Aborting the signal kills the invocation wherever it is. */
  invokeLambda: InvokeLambda;
  /** Kills what still runs. */
  close(): Promise<void>;
}

/** Runs each invocation in a thread of its own, so that it can be killed at any point, by its deadline too. */
export function createWorkerLambdaRuntime(options: WorkerLambdaOptions): WorkerLambdaRuntime {
  const { entry, concurrency = 8, clock = systemClock } = options;
  const pool = new SandboxPool(() => new WorkerSandbox(entry, { ...process.env, ...options.env }), concurrency);

  const invokeLambda: InvokeLambda = async (functionArn, payload, signal, onBegin) => {
    const functionName = functionNameOf(functionArn);
    assertPayloadFits(payload);
    const sandbox = await pool.take();
    try {
      const loaded = await sandbox.loaded;
      if (isResult(loaded)) return loaded;
      const timeoutSeconds = loaded[functionName];
      if (timeoutSeconds === undefined) throw functionNotFound(functionArn);
      const deadlineMs = clock.now() + timeoutSeconds * 1000;
      const invocation = { functionArn, functionName, payload, requestId: randomUUID(), deadlineMs };
      onBegin?.();
      return await runOrKill(sandbox, invocation, timeoutSeconds, clock, signal);
    } finally {
      pool.giveBack(sandbox);
    }
  };

  return { invokeLambda, close: () => pool.close() };
}

async function runOrKill(
  sandbox: WorkerSandbox,
  invocation: Invocation,
  timeoutSeconds: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<LambdaResult> {
  let answered = false;
  const call = sandbox.run(invocation).finally(() => {
    answered = true;
  });
  try {
    return await withDeadline(call, invocation, timeoutSeconds, clock, signal);
  } finally {
    if (!answered) await sandbox.kill();
  }
}

function isResult(loaded: Record<string, number> | LambdaResult): loaded is LambdaResult {
  return typeof loaded.ok === "boolean";
}

/** Threads that have loaded the functions, started when they are needed and used again. */
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
