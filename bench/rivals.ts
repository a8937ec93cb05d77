import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = import.meta.dirname;
/** Rivals are installed once for all benches, and are nothing that the project depends on. */
const cache = join(tmpdir(), "nova-bench-rivals");

/** Why a rival is not there: it cannot be had, or no walls can be made here. */
export class NoRival extends Error {
  override readonly name = "NoRival";
}

async function installed(folder: string, evidence: string, command: string, ...args: string[]): Promise<string> {
  const place = join(cache, folder);
  try {
    if (!existsSync(join(place, evidence)))
      await run(
        command,
        args.map((arg) => (arg === "" ? place : arg)),
      );
    return place;
  } catch (cause) {
    throw new NoRival(`${command} could not install ${folder}`, { cause });
  }
}

/** The interpreter itself: what `python3` names may be a shell script that looks for it, and ten times slower. */
export async function interpreter(): Promise<string> {
  return (await run("python3", ["-c", "import sys; print(sys.executable)"])).stdout.trim();
}

/** LangGraph with SQLite, each step a Python behind walls; answers milliseconds of the last chain of `times`. */
export async function langGraph(): Promise<
  (steps: number, options?: { bytes?: number; times?: number }) => Promise<number>
> {
  const packages = ["langgraph", "langgraph-checkpoint-sqlite"];
  const site = await installed(
    "langgraph",
    "langgraph",
    "python3",
    "-m",
    "pip",
    "install",
    "-q",
    "--target",
    "",
    ...packages,
  );
  const [python, env] = [await interpreter(), { ...process.env, PYTHONPATH: site }];
  const chain = async (steps: number, { bytes = 0, times = 2 } = {}) => {
    const args = [join(here, "langgraph_chain.py"), ...[steps, bytes, times].map(String)];
    return Number((await run(python, args, { env })).stdout);
  };
  await chain(1).catch((cause) => {
    throw new NoRival("LangGraph does not run here", { cause });
  });
  return chain;
}

export interface Restate extends AsyncDisposable {
  /** So many runs at once, each of so many steps; answers milliseconds. */
  runAll(runs: number, steps: number): Promise<number>;
}

/** Restate's server, and its handlers in a process of Node, each step a Python behind walls. */
export async function openRestate(): Promise<Restate> {
  const packages = ["@restatedev/restate-server", "@restatedev/restate-sdk"];
  const place = await installed(
    "restate",
    "node_modules/@restatedev/restate-sdk",
    "npm",
    "install",
    "--ignore-scripts",
    "--prefix",
    "",
    ...packages,
  );
  const [ingress, admin, node, handlers] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const folder = await mkdtemp(join(tmpdir(), "nova-bench-restate-"));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const start = (command: string, args: string[], env = {}) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"] });
    stack.defer(() => end(child));
    return child;
  };
  const socket = join(folder, "zygote.sock");
  await once(start(await interpreter(), ["-IS", join(here, "walled_zygote.py"), socket]).stdout, "data");
  await once(start(process.execPath, [join(here, "restate-steps.ts"), place, String(handlers), socket]).stdout, "data");
  const places = {
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
  };
  const packaged = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  const [server, at] = [join(place, "node_modules", packaged), ["--bind-ip", "127.0.0.1", "--bind-port", String(node)]];
  start(server, ["--base-dir", join(folder, "data"), ...at], places).stdout.resume();
  const post = (url: string, body: object) =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const deployment = { uri: `http://127.0.0.1:${handlers}` };
  while (!(await post(`http://127.0.0.1:${admin}/deployments`, deployment).catch(() => undefined))?.ok)
    await sleep(100);
  return {
    async runAll(runs, steps) {
      const begin = performance.now();
      const one = async () => {
        const answer = await post(`http://127.0.0.1:${ingress}/steps/run`, { steps });
        const { n } = (await answer.json()) as { n: number };
        if (n !== steps) throw new RangeError(`Restate ran ${n} steps of ${steps}`);
      };
      await Promise.all(Array.from({ length: runs }, one));
      return performance.now() - begin;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
