import { createServiceStores } from "@nova/aws";
import type { ApiKey, Attempt, AuditRecord, Client, ServiceStores, VersionPointers } from "@nova/service";
import { beforeAll, describe, expect, test } from "vitest";
import { createWorkflowStore } from "../../packages/aws/src/dynamodb/workflows.ts";
import { failing, useBucket, useTable } from "./support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let stores: ServiceStores;

beforeAll(() => {
  stores = createServiceStores(table);
});

const createdAt = "2026-01-02T03:04:05.678Z";
const key: ApiKey = {
  format: 1,
  id: "key_1",
  role: "viewer",
  client: null,
  name: "",
  digest: "0a",
  createdAt,
  createdBy: null,
};
const client: Client = { format: 1, slug: "acme", name: "Acme", pins: {}, createdAt };
const now = Date.parse(createdAt);

describe("the stored API keys", () => {
  test("are created only once and removed only once", async () => {
    expect(await stores.keys.create(key)).toBe(true);
    expect(await stores.keys.create({ ...key, digest: "ff" })).toBe(false);
    expect((await stores.keys.get("key_1"))?.digest).toBe("0a");
    expect([await stores.keys.remove("key_1"), await stores.keys.remove("key_1")]).toEqual([true, false]);
    expect(await stores.keys.get("key_1")).toBeUndefined();
  });

  test("are listed by id for one client or for all clients, and after a given id if the caller names an id", async () => {
    for (const [n, of] of [null, "acme", "globex", "acme"].entries()) {
      await stores.keys.create({ ...key, id: `key_${n}`, client: of });
    }
    const ids = async (query: Parameters<ServiceStores["keys"]["list"]>[0]) =>
      (await stores.keys.list(query)).map(({ id }) => id);
    expect(await ids({ limit: 2 })).toEqual(["key_0", "key_1"]);
    expect(await ids({ limit: 9, after: "key_1" })).toEqual(["key_2", "key_3"]);
    expect(await ids({ limit: 9, client: "acme" })).toEqual(["key_1", "key_3"]);
    expect(await ids({ limit: 1, after: "key_1", client: "acme" })).toEqual(["key_3"]);
  });

  test("are read consistently, so that a removed key is refused immediately", async () => {
    await stores.keys.get("key_0");
    expect(table.requests).toMatchObject([{ ConsistentRead: true }]);
  });
});

describe("the stored clients", () => {
  test("are created once, updated if they exist, and listed by slug", async () => {
    expect([await stores.clients.create(client), await stores.clients.create(client)]).toEqual([true, false]);
    expect(await stores.clients.update("acme", { pins: { invoice: 3 } })).toBe(true);
    expect(await stores.clients.update("nobody", { name: "Nobody" })).toBe(false);
    expect(await stores.clients.get("acme")).toEqual({ ...client, pins: { invoice: 3 } });
    await stores.clients.create({ ...client, slug: "0" });
    expect((await stores.clients.list({ limit: 9 })).map(({ slug }) => slug)).toEqual(["0", "acme"]);
    expect((await stores.clients.list({ limit: 9, after: "0" })).map(({ slug }) => slug)).toEqual(["acme"]);
  });
});

describe("the audit log", () => {
  const record = (id: string, of: string | null): AuditRecord => ({
    format: 1,
    id,
    at: createdAt,
    action: "key.created",
    by: null,
    client: of,
    subject: "key_1",
    detail: {},
  });

  test("lists its records newest first for one client or for all clients, and after a given record if the caller names a record", async () => {
    for (const [n, of] of [null, "acme", "globex"].entries()) await stores.audit.append(record(`0${n}`, of));
    const ids = async (query: Parameters<ServiceStores["audit"]["list"]>[0]) =>
      (await stores.audit.list(query)).map(({ id }) => id);
    expect(await ids({ limit: 2 })).toEqual(["02", "01"]);
    expect(await ids({ limit: 9, after: "02" })).toEqual(["01", "00"]);
    expect(await ids({ limit: 9, client: "acme" })).toEqual(["01"]);
  });

  test("keeps the first of two records with the same id", async () => {
    await stores.audit.append({ ...record("00", null), subject: "another" });
    expect((await stores.audit.list({ limit: 9, after: "01" }))[0]?.subject).toBe("key_1");
  });
});

describe("the stored state of a workflow", () => {
  test("changes only if no other process has changed it since the caller read it", async () => {
    const active = async () => (await stores.workflowStates.get("invoice"))?.active;
    expect(await active()).toBeUndefined();
    expect(await stores.workflowStates.move("invoice", {}, { active: 2 })).toBe(true);
    expect(await stores.workflowStates.move("invoice", {}, { active: 1 })).toBe(false);
    expect(await stores.workflowStates.move("invoice", { active: 2, deleted: 1 }, { active: 1 })).toBe(false);
    expect(await active()).toBe(2);
    expect(await stores.workflowStates.move("invoice", { active: 2 }, { active: 1 })).toBe(true);
    expect(await active()).toBe(1);
    await stores.workflowStates.set("invoice", { deleted: 2 });
    expect(await stores.workflowStates.get("invoice")).toEqual({
      format: 1,
      workflowId: "invoice",
      active: 1,
      deleted: 2,
    });
  });

  test("contains the versions that a process is changing, and is listed as unsettled until all these changes are done", async () => {
    const unsettled = () => Array.fromAsync(stores.workflowStates.unsettled());
    const move = (from: VersionPointers, to: VersionPointers) => stores.workflowStates.move("touched", from, to);
    expect(await move({}, { touched: [1, 2] })).toBe(true);
    expect(await move({}, { active: 1 })).toBe(false);
    expect(await move({ touched: [2, 1] }, { active: 1 })).toBe(false);
    expect(await move({ touched: [1, 2] }, { active: 1 })).toBe(true);
    expect(await stores.workflowStates.get("touched")).toMatchObject({ active: 1, touched: [1, 2] });
    expect(await unsettled()).toEqual([{ workflowId: "touched", touched: [1, 2] }]);
    const handedOver = { times: 1, at: createdAt };
    await stores.workflowStates.recordHandOver("touched", handedOver);
    expect(await unsettled()).toEqual([{ workflowId: "touched", touched: [1, 2], handedOver }]);
    expect(await move({ active: 1, touched: [1, 2] }, { touched: [] })).toBe(true);
    await stores.workflowStates.recordHandOver("touched", handedOver);
    expect(await stores.workflowStates.get("touched")).toEqual({ format: 1, workflowId: "touched", active: 1 });
    expect(await unsettled()).toEqual([]);
    // An empty list `touched` and an absent list `touched` both mean that no process is changing a version.
    expect(await move({ active: 1, touched: [] }, { touched: [] })).toBe(true);
    expect(await move({ active: 1 }, { deleted: 1, touched: [] })).toBe(true);
  });

  test("contains the audit record of its deletion until the audit log has that record", async () => {
    const leaving: AuditRecord = {
      format: 1,
      id: "01",
      at: createdAt,
      action: "workflow.deleted",
      by: "key_1",
      client: null,
      subject: "left",
      detail: { version: 2 },
    };
    await stores.workflowStates.move("left", {}, { deleted: 2, leaving });
    expect(await stores.workflowStates.get("left")).toMatchObject({ deleted: 2, leaving });
    await stores.workflowStates.endDeletion("left", { ...leaving, id: "00" });
    expect(await stores.workflowStates.get("left")).toMatchObject({ leaving });
    await stores.workflowStates.endDeletion("left", leaving);
    expect(await stores.workflowStates.get("left")).toEqual({ format: 1, workflowId: "left", deleted: 2 });
  });

  test("is not listed as a workflow version, although it is stored in the partition of the versions", async () => {
    const versions = createWorkflowStore(table, bucket);
    expect(await versions.latest("invoice")).toBeUndefined();
    expect(await Array.fromAsync(versions.ids())).toEqual([]);
  });
});

describe("a request with an idempotency key", () => {
  const name = { principal: "key_1", key: "k" };
  const since = createdAt;
  const later = "2026-01-02T03:05:00.000Z";
  const attempt: Attempt = {
    format: 1,
    ...name,
    fingerprint: "f",
    id: "01",
    since,
    expiresAt: now / 1000 + 60,
  };

  test("is accepted once, and a second time only after the key has expired", async () => {
    expect(await stores.attempts.begin(attempt, now)).toBeUndefined();
    expect(await stores.attempts.begin({ ...attempt, id: "02" }, now)).toEqual(attempt);
    expect(await stores.attempts.begin({ ...attempt, id: "03" }, now + 120_000)).toBeUndefined();
    expect(await stores.attempts.begin({ ...attempt, id: "04" }, now)).toMatchObject({ id: "03" });
  });

  test("is accepted even if the response to its first write was lost", async () => {
    table.faults = failing(1, "lost");
    expect(await stores.attempts.begin({ ...attempt, key: "lost" }, now)).toBeUndefined();
  });

  test("is taken over by only one of several processes, and by no process if it is finished", async () => {
    const both = [stores.attempts.takeOver(name, since, later), stores.attempts.takeOver(name, since, later)];
    expect((await Promise.all(both)).sort()).toEqual([false, true]);
    await stores.attempts.finish(name, '{"id":1}');
    expect(await stores.attempts.takeOver(name, later, later)).toBe(false);
    expect(await stores.attempts.begin(attempt, now)).toMatchObject({ id: "03", made: '{"id":1}' });
  });

  test("is not stored by a late write after it was erased together with its client", async () => {
    const gone = { ...name, key: "gone" };
    await stores.attempts.finish(gone, "{}");
    await stores.attempts.release(gone);
    expect(await stores.attempts.begin({ ...attempt, ...gone }, now)).toBeUndefined();
  });

  test("can be taken over immediately after its process has released it", async () => {
    await stores.attempts.release(name);
    expect(await stores.attempts.begin(attempt, now)).toMatchObject({ since: "1970-01-01T00:00:00.000Z" });
  });
});
