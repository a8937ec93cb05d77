import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, mkdirSync, openSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { KeptConnection } from "./agent-call.ts";
import { enclosedLaunch, type Identity, type Launch, plainLaunch, UNPRIVILEGED_ID } from "./bubblewrap.ts";
import { E2bServerError } from "./http.ts";
import type { Python } from "./python.ts";
import { writeToScratch } from "./scratch.ts";

const MiB = 1024 * 1024;

/**
 * The limits of one sandbox. The memory is that of E2B's template. The disk is in memory, but takes only as much as is
 * used. 160 processes are enough for a program that itself starts at most 128.
 */
const LIMITS = { memoryBytes: 2048 * MiB, processes: 160, diskBytes: 4096 * MiB };

/** After this time without a request, packages are imported ahead of their use. */
const IDLE_MS = 100;

/** A process that has not ended after this time is killed: on an overloaded machine it might never end by itself. */
const EXIT_TIMEOUT_MS = 10_000;

/** After this time packages are imported even if a request was waiting all the time. */
const LATEST_WARMING_MS = 5_000;

/**
 * A Python process from which sandboxes are forked (a zygote). This class starts and controls it; its code is
 * python/nova_sandboxd/zygote.py.
 */
export class Zygote {
  readonly #warmed = Promise.withResolvers<void>();
  /** Resolves when the packages have been imported, or when the process has ended. */
  readonly warmed = this.#warmed.promise;
  alive = true;
  #process: ChildProcess;
  #sockets: string;
  #warming: "not begun" | "held" | "on" | "done" = "not begun";
  /** The next import: small modules for all sandboxes, then large ones and packages if sandboxes may import them. */
  #next: "small" | "packages" | undefined = "small";
  #arePackagesWanted = false;
  #isActive = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #overdueTimer: NodeJS.Timeout | undefined;
  #overdue = false;

  /**
   * Starts a zygote. If `identity` is undefined, its sandboxes are not isolated. If the start fails, it rejects with an
   * E2bServerError that contains the output of the process. Output after the start shows a bug, and goes to `warn`.
   */
  static async start(
    python: Python,
    sites: string[],
    identity: Identity | undefined,
    scratch: string,
    { warn, modules, preloaded }: ZygoteOptions,
  ): Promise<Zygote> {
    const sockets = join(scratch, `s${counter++}`);
    writeToScratch(() => mkdirSync(sockets, { mode: 0o700 }));
    const manyIds = identity !== undefined && identity.userId !== 0;
    if (manyIds) chownSync(sockets, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    const launch = identity
      ? writeToScratch(() => enclosedLaunch(python, sites, identity, scratch))
      : plainLaunch(python, sites);
    const process = spawnWith(launch, sockets);
    const zygote = new Zygote(process, sockets);
    const { bubblewrapFlags: _, ...ids } = identity ?? {
      ids: "",
      blocks: 1,
      blockIds: 1,
      userId: 0,
      bubblewrapFlags: [],
    };
    const settings = {
      isolated: identity !== undefined,
      ...ids,
      ...LIMITS,
      packages: modules,
      preloaded,
      sites: launch.sites,
      environment: launch.environment,
      sockets: identity ? "/proc/self/fd/3" : sockets,
    };
    process.stdin?.write(`${JSON.stringify(settings)}\n`);
    await zygote.#listen(warn);
    return zygote;
  }

  private constructor(process: ChildProcess, sockets: string) {
    this.#process = process;
    this.#sockets = sockets;
    this.#warmAtLatest();
  }

  async #listen(warn: ZygoteOptions["warn"]): Promise<void> {
    const { stdout, stderr, stdin } = this.#process;
    if (!stdout || !stderr || !stdin) throw new E2bServerError("the Python process was started without pipes");
    let said = "";
    let isReady = false;
    stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4096);
      if (isReady) warn(`the sandboxes' Python failed: ${text.trim()}`);
    });
    stdin.on("error", () => this.#warmed.resolve());
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: stdout }).on("line", (line) => {
        const event = JSON.parse(line) as { ready: true } | { loaded: "small" | "packages" };
        if ("ready" in event) {
          isReady = true;
          return resolve();
        }
        this.#onLoaded(event.loaded);
      });
      this.#process.on("error", (cause) =>
        reject(new E2bServerError(`cannot start Python: ${cause.message}`, { cause })),
      );
      this.#process.on("exit", (code, signal) => {
        this.alive = false;
        this.#onLoaded("packages");
        reject(new E2bServerError(`Python ended at once (${signal ?? code}): ${said.trim().split("\n").at(-1) ?? ""}`));
      });
    });
  }

  #onLoaded(loaded: "small" | "packages") {
    this.#warming = "done";
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#overdueTimer);
    this.#next = loaded === "small" ? "packages" : undefined;
    if (this.#next) this.#continueWarming();
    else this.#warmed.resolve();
  }

  #warmAtLatest() {
    this.#overdue = false;
    this.#overdueTimer = setTimeout(() => {
      this.#overdue = true;
      this.#warm();
    }, LATEST_WARMING_MS).unref();
  }

  /** Announces that sandboxes will import packages, so that the zygote imports them ahead. */
  wantPackages(): void {
    this.#arePackagesWanted = true;
    if (this.#warming === "done") this.#continueWarming();
  }

  #continueWarming() {
    if (this.#next !== "packages" || !this.#arePackagesWanted) return;
    this.#warming = "not begun";
    this.#warmAtLatest();
    this.setActive(this.#isActive);
  }

  /** Tells the zygote whether a request waits for its response. While a request waits, the zygote imports nothing. */
  setActive(active: boolean): void {
    this.#isActive = active;
    if (this.#warming === "done" || this.#overdue) return;
    clearTimeout(this.#idleTimer);
    if (!active) {
      this.#idleTimer = setTimeout(() => this.#warm(), IDLE_MS).unref();
    } else if (this.#warming === "on") {
      this.#warming = "held";
      this.#process.stdin?.write("hold\n");
    }
  }

  #warm() {
    if (this.#warming === "done" || this.#warming === "on") return;
    this.#process.stdin?.write(this.#warming === "not begun" ? `${this.#next}\n` : "proceed\n");
    this.#warming = "on";
  }

  /**
   * Creates a sandbox. It lives until `kill` is called, or until it ends by itself; then `ended` resolves. A light
   * sandbox (`isLight`) is for code that imports nothing large: it is forked from a process that never loads packages, at a
   * third of the cost.
   */
  async createSandbox(environment: Record<string, string>, { internet, isLight }: WantedSandbox): Promise<Lifeline> {
    if (!isLight) this.wantPackages();
    const connection = connect(join(this.#sockets, isLight ? "light" : "zygote"));
    const ended = new Promise<void>((resolve) => connection.once("close", () => resolve()));
    connection.on("error", () => connection.destroy());
    connection.write(`${JSON.stringify({ environment, internet })}\n`);
    const [answer] = (await Promise.race([once(connection, "data"), ended.then(() => [])])) as [Buffer?];
    if (!answer) throw new E2bServerError("the Python process is gone, so this sandbox cannot be made - try again");
    const made = JSON.parse(answer.toString()) as { socket: string } | { error: string };
    if ("error" in made) throw new E2bServerError(`cannot make a sandbox: ${made.error}`);
    connection.resume();
    const kill = async () => {
      connection.end();
      await forceAfter(EXIT_TIMEOUT_MS, ended, () => connection.destroy());
    };
    const socketPath = join(this.#sockets, made.socket);
    const calls = new KeptConnection(socketPath);
    ended.then(() => calls.close());
    return { socketPath, calls, ended, kill };
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#overdueTimer);
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.stdin?.end();
    await forceAfter(EXIT_TIMEOUT_MS, exited, () => this.#process.kill("SIGKILL"));
  }
}

/** Waits for `end`. Calls `force` if `end` has not settled after `ms`. */
async function forceAfter(ms: number, end: Promise<unknown>, force: () => void): Promise<void> {
  const timer = setTimeout(force, ms);
  await end;
  clearTimeout(timer);
}

export type ZygoteOptions = {
  warn: (sentence: string) => void;
  /** Modules that are imported ahead of their use, while no request waits. */
  modules: readonly string[];
  /**
   * Modules that are imported before the first sandbox is created. They delay the first sandbox, so they must be few
   * and quick.
   */
  preloaded: string[];
};

type WantedSandbox = { internet: boolean; isLight: boolean };

export type Lifeline = {
  socketPath: string;
  calls: KeptConnection;
  ended: Promise<void>;
  kill: () => Promise<void>;
};

let counter = 0;

/**
 * Starts the launcher. It gets the folder of sockets as descriptor 3, because the folder must not be in the file tree
 * that sandboxes see.
 */
function spawnWith(launch: Launch, sockets: string): ChildProcess {
  const folder = openSync(sockets, "r");
  try {
    return spawn(launch.command, launch.args, {
      stdio: ["pipe", "pipe", "pipe", folder],
      cwd: "/",
      env: bareEnvironment(),
      // The process is detached, because the terminal must send Ctrl-C only to the process that owns the sandboxes.
      // When the owner ends, this process ends, too.
      detached: true,
    });
  } finally {
    closeSync(folder);
  }
}

function bareEnvironment(): Record<string, string> {
  const { PATH = "", LD_LIBRARY_PATH } = process.env;
  return { PATH, ...(LD_LIBRARY_PATH ? { LD_LIBRARY_PATH } : {}) };
}
