// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createClient, type NovaClient } from "@nova/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nova as command, newFolder, type Started, startNova, writeChain } from "../support/nova.ts";

let folder: string;
let dev: Started;
let nova: NovaClient;
let url: string;
let key: string;

async function open(): Promise<void> {
  dev = startNova(folder, "dev", "--port", "0", "--smtp-port", "0", "--json");
  const first = await dev.line("{");
  const { api_key, ...places } = JSON.parse(first);
  [url, key] = [places.url, api_key];
  expect(api_key, `the first line is ${first}`).toMatch(/^nova_/);
  nova = createClient({ url, apiKey: api_key });
  await dev.line('"published":true');
}

beforeAll(async () => {
  folder = await newFolder();
  await writeChain(folder, "sleep", {
    sleep: 'import time; print("asleep", flush=True); time.sleep(context["seconds"])',
  });
  await writeChain(folder, "count", { add: 'context["n"] += 1', again: 'context["n"] += 1' });
  await open();
});

afterAll(async () => {
  dev.child.kill("SIGINT");
  await dev.ended;
  await rm(folder, { recursive: true, force: true });
});

it("nova dev loses no accepted run when it is killed while 20 runs are being started", async () => {
  const accepted: string[] = [];
  const asked = Array.from({ length: 20 }, async (_, n) => {
    const { execution_id } = await nova.executions.execute("count", { context: { n } });
    if (accepted.push(execution_id) === 12) dev.child.kill("SIGKILL");
  });
  await once(dev.child, "exit");
  // The test does not await requests without an answer, because the client repeats them even after the server is gone.
  Promise.allSettled(asked);
  const heard = accepted.slice(0, 12);
  await open();
  for (const id of heard) {
    const { status } = await nova.executions.untilEnded(id);
    expect(["completed", "interrupted"]).toContain(status);
    expect(await dev.line(`{"execution_id":"${id}","workflow":"count","status":`)).toContain(`"${status}"`);
    expect(await nova.executions.verify(id)).toMatchObject({ state: "anchored", problem: null });
  }
}, 60_000);

it("nova dev waits for a run and accepts no requests after the first Ctrl-C, and interrupts the run at the second Ctrl-C", async () => {
  const id = await sleeping(600);
  dev.child.kill("SIGINT");
  await dev.line("runs are in progress; Ctrl-C again interrupts them");
  expect(dev.child.exitCode).toBeNull();
  await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  dev.child.kill("SIGINT");
  const { code, stderr } = await dev.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "runs are in progress; Ctrl-C again interrupts them\n" });
  expect(await statusOf(id)).toBe("interrupted");
}, 60_000);

it("nova dev interrupts a run at the second Ctrl-C, closes the record of the run, and then answers the request that waited for the run", async () => {
  await open();
  const answer = await waitedFor(600);
  dev.child.kill("SIGINT");
  await dev.line("runs are in progress; Ctrl-C again interrupts them");
  await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  dev.child.kill("SIGINT");
  const result = await answer();
  expect(result.status).toBe("interrupted");
  const { code, stdout } = await dev.ended;
  expect(code).toBe(0);
  expect(stdout).toContain(`{"execution_id":"${result.execution_id}","workflow":"sleep","status":"interrupted"`);
  expect(await statusOf(result.execution_id)).toBe("interrupted");
}, 60_000);

it("nova dev finishes its runs after one Ctrl-C, answers the request that waits for one of them, and then ends", async () => {
  await open();
  const [answer, id] = [await waitedFor(2), await sleeping(1)];
  dev.child.kill("SIGINT");
  expect((await answer()).status).toBe("completed");
  expect((await dev.ended).code).toBe(0);
  expect(await statusOf(id)).toBe("completed");
}, 60_000);

it("a command that follows a run ends with one sentence when nova dev in another terminal is killed", async () => {
  await open();
  const follower = startNova(folder, "logs", await sleeping(600), "--follow");
  await follower.line("asleep");
  dev.child.kill("SIGKILL");
  const { code, stderr } = await follower.ended;
  const advice = "`nova executions` shows what became of the run";
  expect([code, stderr]).toEqual([1, `nova: the process that owned the data folder has ended - ${advice}\n`]);
}, 60_000);

/** Starts a run whose node works for this many seconds. */
async function sleeping(seconds: number): Promise<string> {
  await dev.line('"id":"sleep"');
  const { execution_id } = await nova.executions.execute("sleep", { context: { seconds } });
  await dev.line(`{"execution_id":"${execution_id}","node":"sleep","state":"started"`);
  return execution_id;
}

/**
 * Sends a request that starts a run and waits for the end of the run, which takes this many seconds. Once the run is in
 * progress, returns a function that reads the answer.
 */
async function waitedFor(seconds: number) {
  await dev.line('"id":"sleep"');
  const answer = fetch(`${url}/workflows/sleep/execute?wait=20`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ context: { seconds } }),
  });
  await dev.line('"node":"sleep","state":"started"');
  return async () => (await answer).json() as Promise<{ execution_id: string; status: string }>;
}

async function statusOf(id: string): Promise<string> {
  const { stdout } = await command(folder, "executions", "--workflow", "sleep", "--json");
  return JSON.parse(stdout).items.find((item: { execution_id: string }) => item.execution_id === id).status;
}
