import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { createServiceStores } from "@nova/aws";
import type { Delivery, LiveTrigger, ServiceStores } from "@nova/service";
import { describe, expect, test } from "vitest";
import frozen from "../../fixtures/formats/triggers-1.json" with { type: "json" };
import { useBucket, useTable } from "../support/endpoints.ts";

/** Triggers and deliveries with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: { triggers: LiveTrigger[]; deliveries: Delivery[] };
  items: { pk: string; sk: string }[];
};
const [mail] = values.triggers as [LiveTrigger];
const [started, refused] = values.deliveries as [Delivery, Delivery];
const bucket = useBucket();

describe("triggers and deliveries of format 1", () => {
  const table = useTable();

  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    const { triggers, deliveries } = createServiceStores({ ...table, bucket });
    for (const live of values.triggers) expect(await triggers.get(live.key)).toEqual(live);
    expect(await deliveries.begin({ ...started, id: "other" })).toEqual(started);
    expect(await deliveries.list({ workflow: null, limit: 1 })).toEqual([refused]);
  });

  test.each<[string, (stores: ServiceStores) => Promise<unknown>]>([
    ["a trigger", ({ triggers }) => triggers.get(mail.key)],
    ["a delivery", ({ deliveries }) => deliveries.begin({ ...started, id: "other" })],
    ["a list of deliveries", ({ deliveries }) => deliveries.list({ workflow: null, limit: 1 })],
  ])("are refused in another format, with a way out (%s)", async (_what, read) => {
    for (const item of items) {
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 3 } }));
    }
    await expect(read(createServiceStores({ ...table, bucket }))).rejects.toThrow(/stored in format 3.*update NOVA/);
  });
});

describe("new triggers and deliveries", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const { triggers, deliveries } = createServiceStores({ ...table, bucket });
    for (const { pause, ...live } of values.triggers) {
      await triggers.put(live);
      if (pause) await triggers.pause(live, pause);
    }
    for (const delivery of values.deliveries) await deliveries.begin(delivery);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    const byKey = (a: { pk?: string }, b: { pk?: string }) => ((a.pk ?? "") < (b.pk ?? "") ? -1 : 1);
    expect(Items.sort(byKey)).toEqual(items.toSorted(byKey));
  });
});
