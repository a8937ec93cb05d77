import { setTimeout as sleep } from "node:timers/promises";
import { cancelExecution, startExecution, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { publishBetween, randomFile } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const runs = 500;
const atOnce = 2;
const inputBytes = 1_000_000;
const timeoutSeconds = 1;
/**
 * Milliseconds after which the bench stops waiting for a run. If a run has not ended by then, this number counts as its
 * time.
 */
const watchdogMs = 60_000;

const reading = 'context["n"] = len(context["f"]) + len(context["g"])';
const sleeping = "import time\ntime.sleep(30)\n";
const early: Record<string, string> = {
  import: "import nosuchmod\n",
  exit: "import sys\nsys.exit(0)\n",
  syntax: 'compile("x = = 1", "it", "exec")\n',
  killed: "import os\nos.kill(os.getpid(), 9)\n",
  memory: "x = bytearray(3 << 30)\n",
  timeout: sleeping,
  cancelled: sleeping,
  lost: sleeping,
};

interface Timed {
  ending: string;
  ms: number;
}

/** Checks that no run hangs if its code ends before a large input of the code has arrived. */
export const stress: Bench = async (cloud) => {
  const versions = new Map<string, WorkflowVersion>([["whole", await publish(cloud, "whole", "")]]);
  for (const [ending, code] of Object.entries(early)) versions.set(ending, await publish(cloud, ending, code));
  const [times, endings] = [[] as Timed[], Object.keys(early)];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < runs; n = next++) {
      const ending = n % 2 === 0 ? "whole" : (endings[(n >> 1) % endings.length] as string);
      times.push({ ending, ms: await timeOf(cloud, versions.get(ending) as WorkflowVersion, ending) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const middle = median(times.map(({ ms }) => ms));
  const slowest = Math.max(...times.map(({ ms }) => ms));
  return [
    {
      name: `${runs} runs with 2 MB of inputs, half of them ending early: the slowest against the median`,
      aim: "under 10 x",
      value: rounded(slowest / middle),
      met: slowest < 10 * middle,
      detail: { median_ms: rounded(middle, 0), ...slowestOfEach(times) },
    },
  ];
};

function publish(cloud: LocalCloud, ending: string, code: string): Promise<WorkflowVersion> {
  const timeout = ending === "timeout" ? timeoutSeconds : 60;
  return publishBetween(
    cloud,
    `bench-stress-${ending}`,
    [{ id: "read", type: "action", timeout, code: code + reading }],
    [
      { from: "start", to: "read" },
      { from: "read", to: "end" },
    ],
  );
}

/**
 * Runs the workflow once. Returns the milliseconds of the run; if its code runs until the timeout, without this time.
 */
async function timeOf(cloud: LocalCloud, version: WorkflowVersion, ending: string): Promise<number> {
  const begin = performance.now();
  const { id } = await startExecution(cloud.ports, {
    version,
    context: "{}",
    files: [randomFile("f", inputBytes), randomFile("g", inputBytes)],
  });
  if (ending === "cancelled" || ending === "lost") {
    await sleep(Math.random() * 100); // The kill may happen at any time: before, during or after the transfers.
    if (ending === "lost") await killSandbox(cloud, id);
    else await cancelExecution(cloud.ports, id);
  }
  await Promise.race([cloud.untilEnd(id), sleep(watchdogMs, undefined, { ref: false })]);
  return performance.now() - begin - (ending === "timeout" ? timeoutSeconds * 1000 : 0);
}

/** Kills the sandbox as if its machine died. */
async function killSandbox({ ports }: LocalCloud, execution: string): Promise<void> {
  while ((await ports.executions.get(execution))?.status === "running") {
    await ports.sandboxes.killAll(execution);
    await sleep(5);
  }
}

function slowestOfEach(times: readonly Timed[]): Record<string, number> {
  const slowest: Record<string, number> = {};
  for (const { ending, ms } of times) slowest[ending] = Math.max(slowest[ending] ?? 0, rounded(ms, 0));
  return slowest;
}
