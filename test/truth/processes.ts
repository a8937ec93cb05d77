import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Thrown if a command fails. The message contains the end of the command's output. */
export class CommandFailed extends Error {
  override name = "CommandFailed";

  constructor(command: readonly string[], { code, stdout, stderr }: Ended) {
    const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-20).join("\n");
    super(`${command.join(" ")} ended with ${code}:\n${said}`);
  }
}

interface Options {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const graceMs = 10_000;

/**
 * The processes that this command has started. Each process leads a process group, so that this command can end the
 * process together with its children.
 */
export class Processes implements AsyncDisposable {
  readonly #running = new Set<ChildProcess>();
  readonly #logs: string;

  /** `logs` is the folder for the output of processes that `stay` starts. */
  constructor(logs: string) {
    this.#logs = logs;
  }

  /** Starts a process that runs until this command ends. Its output goes to `<name>.log`. */
  stay(name: string, command: readonly string[], options: Options): ChildProcess {
    const child = this.#start(command, options);
    const log = createWriteStream(join(this.#logs, `${name}.log`));
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    return child;
  }

  async run(command: readonly string[], options: Options): Promise<Ended> {
    const child = this.#start(command, options);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout: await stdout, stderr: await stderr };
  }

  /** Runs a command and returns its output. Throws `CommandFailed`. */
  async output(command: readonly string[], options: Options): Promise<string> {
    const ended = await this.run(command, options);
    if (ended.code !== 0) throw new CommandFailed(command, ended);
    return ended.stdout;
  }

  #start([command = "", ...args]: readonly string[], options: Options): ChildProcess {
    const child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#running.add(child);
    child.once("close", () => this.#running.delete(child));
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#running, end));
  }
}

async function end(child: ChildProcess): Promise<void> {
  const closed = once(child, "close").then(() => true);
  signal(child, "SIGTERM");
  if (await Promise.race([closed, setTimeout(graceMs, false, { ref: false })])) return;
  signal(child, "SIGKILL");
  await closed;
}

/** Sends a signal to the whole process group, because its leader may have ended before its children. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = "";
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}
