import type { CredentialRecord, CredentialStore } from "@nova/engine";
import { beforeAll, describe, expect, test } from "vitest";
import { createCredentialStore } from "../../../packages/aws/src/dynamodb/credentials.ts";
import frozen from "../../fixtures/formats/credentials-1.json" with { type: "json" };
import { useTable } from "../support/endpoints.ts";

const table = useTable();
let store: CredentialStore;
const acme = { client: "acme" };
const values = frozen.values as unknown as [CredentialRecord, CredentialRecord];
const [record] = values;

beforeAll(async () => {
  store = createCredentialStore(table);
  for (const value of values) await store.put(value);
});

describe("a stored credential", () => {
  test("is replaced only by a writer that has read its current revision", async () => {
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

  test("is listed until it is removed, even if the credentials of all owners fill several pages", async () => {
    for (let n = 0; n < 120; n++) await store.put({ ...record, name: `more_${n}` });
    const first = await store.listAll();
    const second = await store.listAll(first.after);
    expect([first.records.length, second.records.length, second.after]).toEqual([100, 22, undefined]);
    expect([await store.remove(record), await store.remove(record)]).toEqual([true, false]);
    expect(await store.get(record)).toBeUndefined();
  });
});
