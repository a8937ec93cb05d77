import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DeployedFunction } from "./deployment.ts";
import type { Outcome, Result } from "./messages.ts";

const processFile = fileURLToPath(new URL("process.ts", import.meta.url));

/** A failed asynchronous invocation. */
export interface Failure {
  name: string;
  event: unknown;
  message: string;
}

/**
 * Runs each function in its own process. The process has the environment variables of Lambda, but none of the shell.
 */
export class Functions implements Disposable {
  readonly failures: Failure[] = [];
  readonly #functions: Map<string, DeployedFunction>;
  readonly #variables: Record<string, string>;
  readonly #logs: string;
  readonly #processes = new Map<string, ChildProcess>();
  readonly #waiting = new Map<string, { name: string; settle(outcome: Outcome): void }>();
  #closed = false;

  /**
   * `variables` are environment variables in addition to those of the deployment. With these variables, requests to AWS
   * and E2B go to this machine. `logs` is the folder for the output of the processes.
   */
  constructor(functions: readonly DeployedFunction[], variables: Record<string, string>, logs: string) {
    this.#functions = new Map(functions.map((one) => [one.name, one]));
    this.#variables = variables;
    this.#logs = logs;
  }

  /** The number of running invocations. */
  get busy(): number {
    return this.#waiting.size;
  }

  has(name: string): boolean {
    return this.#functions.has(name);
  }

  invoke(name: string, event: unknown): Promise<Outcome> {
    const own = this.#functions.get(name);
    if (!own) throw new RangeError(`no function ${name} was deployed`);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const id = randomUUID();
    const errorMessage = `Task timed out after ${own.timeoutSeconds}.00 seconds`;
    const timedOut = { error: { errorType: "Sandbox.Timedout", errorMessage, trace: [] } };
    const timer = setTimeout(() => this.#settle(id, timedOut), own.timeoutSeconds * 1000);
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    this.#waiting.set(id, { name, settle });
    this.#processOf(own).send({ id, event });
    return promise;
  }

  /** Invokes a function without waiting for it, as rules and queues do. Records the failure if it fails. */
  async invokeLater(name: string, event: unknown): Promise<void> {
    const outcome = await this.invoke(name, event);
    if (this.#closed || !("error" in outcome)) return;
    const { errorType, errorMessage } = outcome.error;
    this.failures.push({ name, event, message: `${errorType}: ${errorMessage}` });
  }

  #processOf(own: DeployedFunction): ChildProcess {
    const running = this.#processes.get(own.name);
    if (running?.connected) return running;
    const env = {
      ...own.environment,
      AWS_LAMBDA_FUNCTION_NAME: own.name,
      AWS_ACCESS_KEY_ID: own.name,
      TZ: ":UTC",
      LANG: "en_US.UTF-8",
      ...this.#variables,
    };
    const args = [own.file, own.handler, own.name, String(own.timeoutSeconds * 1000)];
    const child = fork(processFile, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    const log = createWriteStream(join(this.#logs, `${own.name}.log`), { flags: "a" });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    child.on("message", ({ id, ...outcome }: Result) => this.#settle(id, outcome));
    child.once("exit", (code) => this.#died(own.name, code));
    this.#processes.set(own.name, child);
    return child;
  }

  #settle(id: string, outcome: Outcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(outcome);
  }

  /**
   * Makes the open invocations of a function fail after its process has ended. A process ends, for example, if it
   * cannot load its bundle.
   */
  #died(name: string, code: number | null): void {
    this.#processes.delete(name);
    if (this.#closed) return;
    const error = { errorType: "Runtime.ExitError", errorMessage: `its process ended with ${code}`, trace: [] };
    for (const [id, waiting] of this.#waiting) if (waiting.name === name) this.#settle(id, { error });
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const child of this.#processes.values()) child.kill("SIGKILL");
  }
}
