import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { NoRival } from "./figure.ts";
import { end, killWithParent } from "./processes.ts";

const run = promisify(execFile);
const here = import.meta.dirname;
/** The folder in which rivals are installed once for all benches, outside the project's own dependencies. */
const cache = join(tmpdir(), "nova-bench-rivals");

async function installed(name: string, evidence: string, command: (place: string) => string[]): Promise<string> {
  const place = join(cache, name);
  const [program = "", ...args] = command(place);
  try {
    if (!existsSync(join(place, evidence))) await run(program, args);
    return place;
  } catch (cause) {
    throw new NoRival(`${program} could not install ${name}`, { cause });
  }
}

/**
 * Returns the path of the Python interpreter itself, because `python3` may be a shell script that takes ten times
 * longer.
 */
export async function interpreter(): Promise<string> {
  return (await run("python3", ["-c", "import sys; print(sys.executable)"])).stdout.trim();
}

/**
 * Returns a function that runs chains of LangGraph with SQLite. Each step runs in its own isolated Python process. The
 * function returns the milliseconds of the last of `times` chains. With a `model`, it runs ReAct loops with as many
 * calls instead.
 */
export async function langGraph(): Promise<
  (steps: number, options?: { bytes?: number; times?: number; model?: string }) => Promise<number>
> {
  const site = await installed("langgraph", "langgraph", (place) => [
    ...["python3", "-m", "pip", "install", "-q", "--target", place, "langgraph", "langgraph-checkpoint-sqlite"],
  ]);
  const [python, env] = [await interpreter(), { ...process.env, PYTHONPATH: site }];
  const chain = async (steps: number, { bytes = 0, times = 2, model = "" } = {}) => {
    const args = [join(here, "langgraph_chain.py"), ...[steps, bytes, times].map(String), ...(model && [model])];
    return Number((await run(python, args, { env })).stdout);
  };
  await chain(1).catch((cause) => {
    throw new NoRival("LangGraph does not run here", { cause });
  });
  return chain;
}

export interface Restate extends AsyncDisposable {
  /** Runs `runs` workflows of `steps` steps at the same time. Returns the milliseconds until all have ended. */
  runAll(runs: number, steps: number): Promise<number>;
}

/** Starts Restate's server, and its handlers in a Node process. Each step runs in its own isolated Python process. */
export async function openRestate(): Promise<Restate> {
  const place = await installed("restate", "node_modules/@restatedev/restate-sdk", (place) => [
    ...[
      "npm",
      "install",
      "--ignore-scripts",
      "--prefix",
      place,
      "@restatedev/restate-server",
      "@restatedev/restate-sdk",
    ],
  ]);
  const [ingress, admin, node, handlers] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const folder = await mkdtemp(join(tmpdir(), "nova-bench-restate-"));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const start = (command: string, args: string[], env = {}) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"] });
    killWithParent(child);
    stack.defer(() => end(child));
    return child;
  };
  const socket = join(folder, "zygote.sock");
  await once(start(await interpreter(), ["-IS", join(here, "walled_zygote.py"), socket, folder]).stdout, "data");
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
