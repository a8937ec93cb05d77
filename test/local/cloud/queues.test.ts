import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalCloud, openLocalCloud } from "@nova/local";
import { execute, type Principal, publish, setWorkflowQuotas } from "@nova/service";
import { ulid } from "ulid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { keepPython, lendPython } from "../../support/known-python.ts";

const by: Principal = { id: "key:ada", role: "admin", client: null, name: "Ada" };

let dataDir: string;
let cloud: LocalCloud;

/**
 * Opens the cloud. If `stays` is true, the cloud starts and continues runs, as in `nova dev`. Otherwise it only reads
 * runs.
 */
async function open(stays: boolean): Promise<void> {
  lendPython(dataDir);
  cloud = await openLocalCloud({ dataDir, fires: stays, drives: stays });
  keepPython(dataDir);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-queues-"));
  await open(true);
  const text = JSON.stringify(inARow("slow", { work: 'import time; time.sleep(context["seconds"])' }));
  await publish(cloud.service, by, { text, fileName: "workflow.json", files: {} });
  await setWorkflowQuotas(cloud.service, by, "slow", { maxConcurrent: 1 });
});

afterAll(async () => {
  await cloud.close({ interrupt: true });
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * Starts one run for each number in `seconds`. The code of a run sleeps for this number of seconds. Resolves when the
 * first run is running. The other runs wait in the queue, because only one run may run at a time.
 */
async function start(...seconds: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of seconds) {
    const context = JSON.stringify({ seconds: each });
    ids.push((await execute(cloud.service, by, { ulid: ulid(), workflow: "slow", context })).id);
  }
  await become(ids.slice(0, 1), ["running"]);
  return ids;
}

function statuses(ids: string[]): Promise<(string | undefined)[]> {
  return Promise.all(ids.map(async (id) => (await cloud.ports.executions.get(id))?.status));
}

async function become(ids: string[], expected: string[]): Promise<void> {
  await vi.waitFor(async () => expect(await statuses(ids)).toEqual(expected), { timeout: 20_000, interval: 50 });
}

describe("runs that wait in the queue of a pool", { timeout: 60_000 }, () => {
  it("stay queued after an interrupt of the local cloud's owner, and start when the local cloud is opened later", async () => {
    const ids = await start(600, 0, 0);
    await cloud.close({ interrupt: true });
    await open(false);
    expect(await statuses(ids)).toEqual(["interrupted", "queued", "queued"]);
    await cloud.close();
    await open(true);
    await become(ids, ["interrupted", "completed", "completed"]);
  });

  it("stay queued when the local cloud's owner closes, although the owner waits for the run in progress", async () => {
    const ids = await start(1, 0);
    await cloud.close();
    await open(false);
    expect(await statuses(ids)).toEqual(["completed", "queued"]);
  });
});
