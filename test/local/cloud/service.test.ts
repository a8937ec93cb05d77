import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  answer,
  createClient,
  deleteClient,
  erase,
  type Principal,
  recordRefusedDelivery,
  startFromTrigger,
} from "@nova/service";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { observeDeliveries } from "../../../packages/local/src/cloud/service.ts";
import { asking } from "../../functions/api/support/flows.ts";
import { TriggerWorld } from "../../service/support/trigger-world.ts";
import { openTestCloud, type TestCloud } from "../../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const by: Principal = { id: "key_1", role: "admin", client: null, name: "Ada" };
const mails = async () => (await readdir(join(cloud.dataDir, "mail")).catch(() => [])).length;

/** Starts a run with an approval that is mailed to a person. */
async function askedRun(client?: string): Promise<string> {
  const [start, ask, end] = asking.nodes;
  const message = { ...ask, message: "May Ines Ortega go on?", to: ["boss@example.com"] };
  const version = await cloud.publish({ ...asking, nodes: [start, message, end] });
  const before = await mails();
  const { startExecution } = await import("@nova/engine");
  const { id } = await startExecution(cloud.ports, { version, context: "{}", ...(client && { client }) });
  await vi.waitFor(async () => expect(await mails()).toBe(before + 1), 20_000);
  return id;
}

describe("a caught mail in the data folder", { timeout: 60_000 }, () => {
  it("is erased with the run that sent it, and with no other run", async () => {
    const [kept, erased] = [await askedRun(), await askedRun()];
    for (const execution of [kept, erased]) {
      await answer(cloud.service, by, { execution }, { choice: "approved" });
      await cloud.untilEnd(execution);
    }
    await erase(cloud.service, by, erased);
    expect(await mails()).toBe(1);
  });

  it("is erased with the client whose run sent it", async () => {
    await createClient(cloud.service, by, { slug: "ines", name: "Ines" });
    await askedRun("ines");
    const before = await mails();
    await deleteClient(cloud.service, by, "ines");
    await vi.waitFor(async () => expect(await mails()).toBe(before - 1), 20_000);
  });
});

let world: TriggerWorld;
let told: string[];

beforeEach(() => {
  world = new TriggerWorld();
  told = [];
});

function ports() {
  const ports = world.ports();
  const hear = ({ workflow, status, reason }: { workflow: string | null; status: string; reason: string }) =>
    void told.push(`${workflow} ${status}: ${reason}`);
  return { ...ports, deliveries: observeDeliveries(world.deliveries, hear) };
}

const known = {
  type: "webhook",
  workflow: null,
  trigger: null,
  client: null,
  dedupe: "1",
  from: "",
  about: "",
} as const;
const arrival = {
  ...({ type: "webhook", workflow: "pay", trigger: "hook", client: "default" } as const),
  dedupe: "1",
  from: "",
  about: "",
  context: "{}",
} as const;

it("observeDeliveries reports every refused delivery, although equal deliveries are recorded only once", async () => {
  for (const _ of "ab") await recordRefusedDelivery(ports(), known, "no such hook");
  expect(told).toEqual(["null refused: no such hook", "null refused: no such hook"]);
  expect(world.records).toHaveLength(1);
});

it("observeDeliveries reports an accepted delivery that is refused later, but no delivery that starts a run", async () => {
  const there = ports();
  await startFromTrigger(there, arrival);
  expect(told).toEqual([expect.stringMatching(/^pay refused: there is no workflow "pay"/)]);
  await world.publish("pay", []);
  await startFromTrigger(there, { ...arrival, dedupe: "2" });
  expect(world.runs).toHaveLength(1);
  expect(told).toHaveLength(1);
});
