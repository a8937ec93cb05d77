import { recordRefusedDelivery, startFromTrigger } from "@nova/service";
import { beforeEach, expect, it } from "vitest";
import { observeDeliveries } from "../../../packages/local/src/deliveries/observe-deliveries.ts";
import { TriggerWorld } from "../../service/support/trigger-world.ts";

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

it("reports each delivery that starts no run, although only one record is kept", async () => {
  for (const _ of "ab") await recordRefusedDelivery(ports(), known, "no such hook");
  expect(told).toEqual(["null refused: no such hook", "null refused: no such hook"]);
  expect(world.records).toHaveLength(1);
});

it("reports a delivery that was accepted and then refused, and none that starts a run", async () => {
  const there = ports();
  await startFromTrigger(there, arrival);
  expect(told).toEqual([expect.stringMatching(/^pay refused: there is no workflow "pay"/)]);
  await world.publish("pay", []);
  await startFromTrigger(there, { ...arrival, dedupe: "2" });
  expect(world.runs).toHaveLength(1);
  expect(told).toHaveLength(1);
});
