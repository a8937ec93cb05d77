import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { CredentialRecord, CredentialStore } from "@nova/engine";
import { beforeAll, describe, expect, test } from "vitest";
import { createCredentialStore } from "../../../packages/aws/src/dynamodb/credentials.ts";
import frozen from "../../fixtures/formats/credentials-1.json" with { type: "json" };
import { useTable } from "../support/endpoints.ts";

const table = useTable();
let store: CredentialStore;
const acme = { client: "acme" };
/** Records with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as { values: CredentialRecord[]; items: { pk: string; sk: string }[] };
const [record, ofWorkflow] = values as [CredentialRecord, CredentialRecord];

beforeAll(() => {
  store = createCredentialStore(table);
});

describe("a credential of format 1", () => {
  test("is stored as in the frozen sample, and can be read from it", async () => {
    for (const value of values) expect(await store.put(value)).toBe(true);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1))).toEqual(items);
    expect(await store.list(acme)).toEqual([record]);
    expect(await store.get(ofWorkflow)).toEqual(ofWorkflow);
  });

  test("replaces only the previous revision", async () => {
    expect(await store.put(record)).toBe(false);
    expect(await store.put({ ...record, revision: 3 })).toBe(false);
    expect(await store.put({ ...record, revision: 2, sealed: "c2VhbGVk" })).toBe(true);
    expect(await store.get(record)).toMatchObject({ revision: 2, sealed: "c2VhbGVk" });
  });

  test("is read consistently, so that a replaced credential is never used", async () => {
    await store.list(acme);
    await store.get(record);
    expect(table.requests).toMatchObject([{ ConsistentRead: true }, { ConsistentRead: true }]);
  });

  test("is listed page by page with those of all owners, until it is removed", async () => {
    for (let n = 0; n < 120; n++) await store.put({ ...record, name: `more_${n}` });
    const first = await store.listAll();
    const second = await store.listAll(first.after);
    expect([first.records.length, second.records.length, second.after]).toEqual([100, 22, undefined]);
    expect([await store.remove(record), await store.remove(record)]).toEqual([true, false]);
    expect(await store.get(record)).toBeUndefined();
  });

  test("is refused in another format, with a way out", async () => {
    await table.client.send(new PutCommand({ TableName: table.table, Item: { ...items[1], format: 2 } }));
    await expect(store.get(ofWorkflow)).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});
