// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newFolder, nova, type Started, startNova, writeChain } from "./support/nova.ts";

let cwd: string;
let running: Started[];

beforeEach(async () => {
  cwd = await newFolder();
  running = [];
  await writeChain(cwd, "quick", { one: "context['done'] = True" });
  await writeChain(cwd, "long", { wait: "import time; time.sleep(4); context['done'] = True" });
});

afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  await rm(cwd, { recursive: true });
});

function start(...args: string[]): Started {
  const started = startNova(cwd, ...args);
  running.push(started);
  return started;
}

async function statuses(): Promise<Record<string, string>> {
  const { items } = JSON.parse((await nova(cwd, "executions", "--json")).stdout);
  return Object.fromEntries(items.map((item: { workflow: string; status: string }) => [item.workflow, item.status]));
}

describe("terminals on one data folder", { timeout: 120_000 }, () => {
  it("finish their runs with complete chains, even if they start at the same moment", async () => {
    const ran = await Promise.all([1, 2, 3].map(() => start("run", "quick", "--json").ended));
    const results = ran.map(({ stdout }) => JSON.parse(stdout));
    expect(results.map(({ status, context }) => [status, context])).toEqual(
      Array(3).fill(["completed", { done: true }]),
    );
    const verified = results.map(({ execution_id }) => nova(cwd, "verify", execution_id));
    expect((await Promise.all(verified)).map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  it("do not end each other's runs, because the owner of the local cloud stays until the runs of its guests are over", async () => {
    const first = start("run", "long", "--set", "n=1");
    await first.line("wait");
    const second = start("run", "long", "--set", "n=2", "--json");
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(JSON.parse((await second.ended).stdout)).toMatchObject({ status: "completed", context: { n: 2 } });
  });

  it("find a run marked as interrupted after its process was killed", async () => {
    const killed = start("run", "long");
    await killed.line("wait");
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(await statuses()).toEqual({ long: "interrupted" });
  });

  it("find their runs marked as interrupted when the owner of the local cloud ends", async () => {
    const owner = start("local");
    await owner.line("AWS_ENDPOINT_URL_SFN=");
    const guest = start("run", "long");
    await guest.line("wait");
    owner.child.kill("SIGINT");
    expect((await owner.ended).code).toBe(0);
    expect(await guest.ended).toMatchObject({ code: 1, stdout: expect.stringContaining("interrupted long") });
    expect(await statuses()).toEqual({ long: "interrupted" });
  });
});
