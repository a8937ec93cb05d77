import { setTimeout as sleep } from "node:timers/promises";
import { answerTask, startExecution, verifyExecution, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { countingCode, publishBetween } from "../chains.ts";
import { type Bench, rounded } from "../figure.ts";

const runs = 1000;
/** The number of runs that run code in a sandbox before they wait. */
const withCode = 50;
const atOnce = 8;
/**
 * Milliseconds of pause before a measurement. Some processes end a moment after their work, and must not be measured.
 */
const quietMs = 3000;

/** Measures 1,000 runs that wait for an answer: their memory, and whether each continues with its own answer. */
export const waiting: Bench = async (cloud) => {
  const start = performance.now();
  const first = await startWaitingRuns(cloud, withCode, countingCode);
  await sleep(quietMs);
  const before = connectionsOpen();
  const ids = [...first, ...(await startWaitingRuns(cloud, runs - withCode))];
  const asked = performance.now();
  await sleep(quietMs);
  const [cpu, connections] = [process.cpuUsage(), connectionsOpen() - before];
  await sleep(quietMs);
  const { user, system } = process.cpuUsage(cpu);
  const sandboxes = await sandboxesAlive(cloud);
  const answering = performance.now();
  const good = await runInBatches(ids, (id) => answerAndVerify(cloud, id));
  const name = `${runs} runs that wait for an answer at once:`;
  return [
    {
      name: `${name} completed with a verified chain`,
      aim: `${runs}`,
      value: good.filter(Boolean).length,
      met: good.every(Boolean),
      detail: { asking_ms: rounded(asked - start, 0), answering_ms: rounded(performance.now() - answering, 0) },
    },
    {
      name: `${name} sandboxes and open connections that the last ${runs - withCode} add`,
      aim: "0 (the clients' pools of connections breathe: at most 16)",
      value: sandboxes + Math.max(0, connections),
      met: sandboxes === 0 && connections <= 2 * atOnce,
      detail: { sandboxes, connections, cpu_percent: rounded((user + system) / 10 / quietMs) },
    },
  ];
};

/** Starts `count` runs, with or without a code node before the approval. Returns their ids when all of them wait. */
async function startWaitingRuns(cloud: LocalCloud, count: number, code?: string): Promise<string[]> {
  const version = await publishAsking(cloud, code);
  return runInBatches(Array.from({ length: count }), () => startUntilAsked(cloud, version));
}

function publishAsking(cloud: LocalCloud, code: string | undefined): Promise<WorkflowVersion> {
  const ask = { id: "ask", type: "approval", message: "Go on?", choices: ["approved"] };
  const nodes = code === undefined ? [ask] : [{ id: "count", type: "action", code }, ask];
  const path = ["start", ...nodes.map(({ id }) => id)];
  return publishBetween(cloud, "bench-waiting", nodes, [
    ...path.slice(1).map((to, i) => ({ from: path[i] as string, to })),
    { from: "ask", to: "end", condition: "approved" },
  ]);
}

/** Starts a run and returns its id after the function that requests the approval has ended. */
async function startUntilAsked(cloud: LocalCloud, version: WorkflowVersion): Promise<string> {
  const { id } = await startExecution(cloud.ports, { version, context: "{}" });
  const asked = Promise.withResolvers<void>();
  cloud
    .untilEnd(id, ({ state }) => state === "waiting" && asked.resolve())
    .then(
      () => asked.reject(new RangeError(`run ${id} ended before it asked - nova trace ${id} says why`)),
      asked.reject,
    );
  await asked.promise;
  return id;
}

async function answerAndVerify(cloud: LocalCloud, execution: string): Promise<boolean> {
  await answerTask(cloud.ports, { execution, node: "ask", choice: "approved", by: "bench", from: "npm run bench" });
  await cloud.untilEnd(execution);
  return (await verifyExecution(cloud.ports, execution)).state === "anchored";
}

function connectionsOpen(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
}

async function sandboxesAlive({ environment }: LocalCloud): Promise<number> {
  const { E2B_API_URL, E2B_API_KEY = "" } = environment;
  const answer = await fetch(`${E2B_API_URL}/v2/sandboxes`, { headers: { "x-api-key": E2B_API_KEY } });
  return ((await answer.json()) as unknown[]).length;
}

/** Calls `work` for each item, a few at a time, and returns the results in the order of the items. */
async function runInBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
