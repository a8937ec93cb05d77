import { createServiceStores } from "@nova/aws";
import type { LiveTrigger, TriggerStore } from "@nova/service";
import { beforeAll, expect, test } from "vitest";
import { useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let triggers: TriggerStore;

beforeAll(() => {
  ({ triggers } = createServiceStores({ ...table, bucket }));
});

const live: LiveTrigger = {
  format: 1,
  key: "mail/invoices",
  workflowId: "invoice",
  trigger: { type: "mail", id: "mail-1", address: "invoices", from: ["@example.com"] },
};
const others: LiveTrigger = { ...live, workflowId: "other" };
const pause = { failures: 2, until: "2026-01-01T00:00:00.000Z" };

test("a trigger is found by its key, and replaced only by its own workflow", async () => {
  expect(await triggers.get(live.key)).toBeUndefined();
  expect(await triggers.put(live)).toBe(true);
  expect(await triggers.get(live.key)).toEqual(live);
  expect(await triggers.put(others)).toBe(false);
  const changed = { ...live, trigger: { ...live.trigger, from: ["@example.org"] } };
  expect(await triggers.put(changed)).toBe(true);
  expect(await triggers.get(live.key)).toEqual(changed);
});

test("a trigger can be paused and resumed, and writing it ends the pause", async () => {
  await triggers.put(live);
  await triggers.pause(live, pause);
  expect(await triggers.get(live.key)).toEqual({ ...live, pause });
  await triggers.pause(live, undefined);
  expect(await triggers.get(live.key)).toEqual(live);
  await triggers.pause(live, pause);
  await triggers.put(live);
  expect(await triggers.get(live.key)).toEqual(live);
});

test("a trigger of another workflow, or a removed trigger, cannot be paused or removed", async () => {
  await triggers.put(live);
  await triggers.pause(others, pause);
  await triggers.remove(others);
  expect(await triggers.get(live.key)).toEqual(live);
  await triggers.remove(live);
  await triggers.remove(live);
  await triggers.pause(live, pause);
  expect(await triggers.get(live.key)).toBeUndefined();
});
