import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient, type NovaClient } from "@nova/client";
import type { E2bPlan } from "@nova/local";
import { end, killWithParent } from "./processes.ts";

export const nova = join(import.meta.dirname, "../packages/cli/bin/nova.js");

export interface Dev extends AsyncDisposable {
  pid: number;
  client: NovaClient;
  url: string;
  apiKey: string;
  /** Resolves when the run with this id has ended. */
  endOf(id: string): Promise<End>;
  /** Starts all runs at once and waits for their ends. `runs` is their number, or a list with a client for each run. */
  runAll(workflow: string, runs: number | readonly string[]): Promise<Runs>;
  /** Counts sandboxes from now on. `stop` waits until no sandbox exists any more, and returns the counts. */
  watchSandboxes(): { stop(): Promise<Sandboxes> };
}

export interface Runs {
  /** `acceptedMs` is the time until the last start was answered, and `allMs` the time until the last run ended. */
  acceptedMs: number;
  allMs: number;
  /** The runs in the order of the clients that were passed. A run that the API refused has the status "refused". */
  runs: { id: string; ms: number; status: string }[];
}

export interface Sandboxes {
  made: number;
  /** The sum of the lifetimes of all sandboxes. E2B charges for this time. */
  seconds: number;
}

/** Starts `nova dev` as a separate process in an empty data folder. */
export async function openDev(plan: E2bPlan = "none"): Promise<Dev> {
  const folder = await mkdtemp(join(tmpdir(), "nova-bench-"));
  const dataDir = join(folder, ".nova");
  const child = spawn(
    process.execPath,
    [nova, "dev", "--port", "0", "--smtp-port", "0", "--e2b-plan", plan, "--json"],
    {
      cwd: folder,
      env: { ...process.env, NOVA_DATA_DIR: dataDir, POWERTOOLS_LOG_LEVEL: "SILENT" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  killWithParent(child);
  const [ended, waiting] = [new Map<string, End>(), new Map<string, (end: End) => void>()];
  const lines = createInterface({ input: child.stdout });
  const first = once(lines, "line");
  lines.on("line", (line) => {
    if (!line.includes('"duration_ms"')) return;
    const { execution_id: id, status } = JSON.parse(line);
    const end = { at: performance.now(), status };
    ended.set(id, end);
    waiting.get(id)?.(end);
  });
  const { url, api_key } = JSON.parse((await first)[0]);
  const client = createClient({ url, apiKey: api_key });
  const endOf = async (id: string) => ended.get(id) ?? new Promise<End>((resolve) => waiting.set(id, resolve));
  return {
    pid: child.pid as number,
    client,
    url,
    apiKey: api_key,
    endOf,
    async runAll(workflow, runs) {
      const clients: readonly string[] = typeof runs === "number" ? Array(runs).fill("default") : runs;
      const start = performance.now();
      let accepted = start;
      const ran: Runs["runs"] = [];
      const ends: Promise<void>[] = [];
      const queue = clients.entries();
      const ask = async () => {
        for (const [index, client_slug] of queue) {
          const run = { id: "", ms: 0, status: "refused" };
          ran[index] = run;
          const started = await client.executions.execute(workflow, { client_slug }).catch(() => undefined);
          accepted = performance.now();
          if (!started) continue;
          run.id = started.execution_id;
          ends.push(endOf(run.id).then(({ at, status }) => void Object.assign(run, { ms: at - start, status })));
        }
      };
      await Promise.all(Array.from({ length: Math.min(requestsAtOnce, clients.length) }, ask));
      await Promise.all(ends);
      return { acceptedMs: accepted - start, allMs: performance.now() - start, runs: ran };
    },
    watchSandboxes: () => watchSandboxes(dataDir),
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(folder, { recursive: true, maxRetries: 5 });
    },
  };
}

/**
 * The largest number of requests that are open at the same time. With more, a request could take longer than the 30
 * seconds that the API allows.
 */
const requestsAtOnce = 200;

export interface End {
  at: number;
  status: string;
}

const lookEveryMs = 50;

function watchSandboxes(dataDir: string): { stop(): Promise<Sandboxes> } {
  const lives = new Map<string, { from: number; to: number }>();
  let isStopped = false;
  const watched = (async () => {
    const [{ endpoints }, { e2bApiKey }] = await Promise.all(
      ["owner.json", "keys.json"].map(async (name) => JSON.parse(await readFile(join(dataDir, name), "utf8"))),
    );
    for (let alive = 1; alive > 0 || !isStopped; ) {
      const to = Date.now();
      alive = 0;
      for (let next: string | null = ""; next !== null; ) {
        const page: Response = await fetch(`${endpoints.e2bApi}/v2/sandboxes?limit=100&nextToken=${next}`, {
          headers: { "x-api-key": e2bApiKey },
        });
        next = page.headers.get("x-next-token");
        for (const { sandboxID, startedAt } of (await page.json()) as { sandboxID: string; startedAt: string }[]) {
          lives.set(sandboxID, { from: Date.parse(startedAt), to });
          alive++;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await watched;
      const ms = [...lives.values()].reduce((sum, { from, to }) => sum + to - from + lookEveryMs / 2, 0);
      return { made: lives.size, seconds: ms / 1000 };
    },
  };
}
