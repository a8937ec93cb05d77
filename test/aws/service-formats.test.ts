import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { createServiceStores } from "@nova/aws";
import type { ApiKey, Attempt, AuditRecord, Client, ServiceStores, WorkflowState } from "@nova/service";
import { describe, expect, test } from "vitest";
import frozen from "../fixtures/formats/service-1.json" with { type: "json" };
import { useTable } from "./support/endpoints.ts";

/** Records of the service with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: {
    keys: [ApiKey, ApiKey];
    audit: [AuditRecord, AuditRecord];
    client: Client;
    state: WorkflowState;
    attempt: Attempt;
  };
  items: { pk: string; sk: string }[];
};
const { keys, audit, client, state, attempt } = values;
const beforeItExpires = (attempt.expiresAt - 10) * 1000;

describe("records of the service in format 1", () => {
  const table = useTable();

  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    const stores = createServiceStores(table);
    expect(await stores.keys.list({ limit: 9 })).toEqual(keys);
    expect(await stores.keys.get(keys[1].id)).toEqual(keys[1]);
    expect(await stores.audit.list({ limit: 9 })).toEqual([...audit].reverse());
    expect(await stores.audit.list({ limit: 9, client: "acme" })).toEqual([audit[1]]);
    expect(await stores.clients.get("acme")).toEqual(client);
    expect(await stores.clients.list({ limit: 9 })).toEqual([client]);
    expect(await stores.workflowStates.get("invoice")).toEqual(state);
    expect(await stores.attempts.begin({ ...attempt, id: "other" }, beforeItExpires)).toEqual(attempt);
  });

  test.each<[string, (stores: ServiceStores) => Promise<unknown>]>([
    ["a key", (stores) => stores.keys.get(keys[0].id)],
    ["the audit", (stores) => stores.audit.list({ limit: 1 })],
    ["a client", (stores) => stores.clients.get("acme")],
    ["the state of a workflow", (stores) => stores.workflowStates.get("invoice")],
    ["an attempt", (stores) => stores.attempts.begin({ ...attempt, id: "other" }, beforeItExpires)],
  ])("are refused in another format, with a way out (%s)", async (_what, read) => {
    for (const item of items) {
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    }
    await expect(read(createServiceStores(table))).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("new records of the service", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const stores = createServiceStores(table);
    for (const key of keys) await stores.keys.create(key);
    for (const record of audit) await stores.audit.append(record);
    await stores.clients.create(client);
    await stores.workflowStates.set("invoice", { active: 2, deleted: 1 });
    const { made = "", ...begun } = attempt;
    await stores.attempts.begin(begun, beforeItExpires);
    await stores.attempts.finish(attempt, made);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    const sorted = Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1));
    expect(sorted).toEqual(items);
  });
});
