import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createClient, type NovaClient } from "@nova/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder, type Started, startNova, writeChain } from "../support/nova.ts";

let folder: string;
let dev: Started;
let nova: NovaClient;

async function open(): Promise<void> {
  dev = startNova(folder, "dev", "--port", "0", "--json");
  const { url, api_key } = JSON.parse(await dev.line('"api_key"'));
  nova = createClient({ url, apiKey: api_key });
  await dev.line('"published":true');
}

beforeAll(async () => {
  folder = await newFolder();
  await writeChain(folder, "count", { add: 'context["n"] += 1', again: 'context["n"] += 1' });
  await open();
});

afterAll(async () => {
  dev.child.kill("SIGINT");
  await dev.ended;
  await rm(folder, { recursive: true, force: true });
});

it("loses no run that it has accepted when it is killed in the middle of 20", async () => {
  const accepted: string[] = [];
  const asked = Array.from({ length: 20 }, async (_, n) => {
    const { execution_id } = await nova.executions.execute("count", { context: { n } });
    if (accepted.push(execution_id) === 12) dev.child.kill("SIGKILL");
  });
  await once(dev.child, "exit");
  // Those that heard nothing go on asking where nobody answers any more.
  Promise.allSettled(asked);
  const heard = accepted.slice(0, 12);
  await open();
  for (const id of heard) {
    const { status } = await nova.executions.untilEnded(id);
    expect(["completed", "interrupted"]).toContain(status);
    expect(await nova.executions.verify(id)).toMatchObject({ state: "anchored", problem: null });
  }
}, 60_000);
