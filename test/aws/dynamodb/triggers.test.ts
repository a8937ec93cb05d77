import { createServiceStores } from "@nova/aws";
import type { Delivery, DeliveryQuery, DeliveryStore, LiveTrigger, TriggerStore } from "@nova/service";
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

test("a trigger is found by its key, and only its own workflow can replace it", async () => {
  expect(await triggers.get(live.key)).toBeUndefined();
  expect(await triggers.put(live)).toBe(true);
  expect(await triggers.get(live.key)).toEqual(live);
  expect(await triggers.put(others)).toBe(false);
  const changed = { ...live, trigger: { ...live.trigger, from: ["@example.org"] } };
  expect(await triggers.put(changed)).toBe(true);
  expect(await triggers.get(live.key)).toEqual(changed);
});

test("a trigger can be paused and resumed, and writing a paused trigger resumes it", async () => {
  await triggers.put(live);
  await triggers.pause(live, pause);
  expect(await triggers.get(live.key)).toEqual({ ...live, pause });
  await triggers.pause(live, undefined);
  expect(await triggers.get(live.key)).toEqual(live);
  await triggers.pause(live, pause);
  await triggers.put(live);
  expect(await triggers.get(live.key)).toEqual(live);
});

test("a workflow cannot pause or remove a trigger of another workflow or a trigger that was removed", async () => {
  await triggers.put(live);
  await triggers.pause(others, pause);
  await triggers.remove(others);
  expect(await triggers.get(live.key)).toEqual(live);
  await triggers.remove(live);
  await triggers.remove(live);
  await triggers.pause(live, pause);
  expect(await triggers.get(live.key)).toBeUndefined();
});

let deliveries: DeliveryStore;

const delivery: Delivery = {
  format: 1,
  key: "k0",
  id: "dlv_0",
  type: "mail",
  workflow: "invoice",
  trigger: "mail-1",
  client: "acme",
  at: "2026-01-01T00:00:00.000Z",
  from: "a@b",
  about: "Hi",
  dedupe: "<1@x>",
  status: "accepted",
  execution: "exec_0",
  reason: null,
  expiresAt: 1_800_000_000,
};
const nobodys = { workflow: null, trigger: null, client: null, execution: null, status: "refused" } as const;

beforeAll(async () => {
  ({ deliveries } = createServiceStores({ ...table, bucket }));
  await deliveries.begin(delivery);
  await deliveries.begin({ ...delivery, key: "k1", id: "dlv_1", client: "globex", status: "started" });
  await deliveries.begin({ ...delivery, key: "k2", id: "dlv_2", workflow: "report", about: "" });
  await deliveries.begin({ ...delivery, ...nobodys, key: "k3", id: "dlv_3", reason: "it is for nobody" });
});

const ids = async (query: Partial<DeliveryQuery>) =>
  (await deliveries.list({ limit: 10, ...query })).map(({ id }) => id);

test("a second trigger delivery with the same key is not stored, and the caller gets the first delivery", async () => {
  const later = { ...delivery, id: "dlv_9", execution: "exec_9" };
  expect(await deliveries.begin(later)).toEqual(delivery);
  expect(await deliveries.begin(delivery)).toBeUndefined();
});

test.each<[Partial<DeliveryQuery>, string[]]>([
  [{ workflow: "invoice" }, ["dlv_1", "dlv_0"]],
  [{ workflow: "invoice", limit: 1 }, ["dlv_1"]],
  [{ workflow: "invoice", after: "dlv_1" }, ["dlv_0"]],
  [{ workflow: "invoice", client: "acme" }, ["dlv_0"]],
  [{ workflow: "invoice", status: "started" }, ["dlv_1"]],
  [{ workflow: null }, ["dlv_3"]],
  [{ client: "acme" }, ["dlv_2", "dlv_0"]],
  [{ client: "acme", status: "refused" }, []],
])("a list of trigger deliveries with the query %j returns %j, newest first", async (query, expected) => {
  expect(await ids(query)).toEqual(expected);
});

test("a trigger delivery without workflow and client is returned with null for both", async () => {
  const [found] = await deliveries.list({ workflow: null, limit: 1 });
  expect(found).toEqual({ ...delivery, ...nobodys, key: "k3", id: "dlv_3", reason: "it is for nobody" });
});

test("a trigger delivery stores whether it was refused or has started a run, and no refusal replaces a started run", async () => {
  const refused = { status: "refused", execution: null, reason: "too late" } as const;
  await deliveries.finish("k0", refused);
  expect(await deliveries.begin({ ...delivery, id: "x" })).toMatchObject(refused);
  const started = { status: "started", execution: "exec_0", reason: null } as const;
  for (const outcome of [started, refused, started]) {
    await deliveries.finish("k0", outcome);
    expect(await deliveries.begin({ ...delivery, id: "x" })).toEqual({ ...delivery, ...started });
  }
});

test("a trigger delivery that was erased together with its client is not written again", async () => {
  await deliveries.finish("gone", { status: "refused", execution: null, reason: "its client is gone" });
  expect(await deliveries.begin({ ...delivery, key: "gone", id: "dlv_4", workflow: "other" })).toBeUndefined();
});
