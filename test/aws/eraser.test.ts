import { createServiceStores } from "@nova/aws";
import type { ServiceStores } from "@nova/service";
import { beforeAll, expect, it } from "vitest";
import { documentMethods } from "../../packages/aws/src/dynamodb/document-methods.ts";
import { createEraser } from "../../packages/aws/src/eraser.ts";
import { useBucket, useTable } from "./support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let stores: ServiceStores;

const at = "2026-11-22T00:00:00.000Z";
const expiresAt = 2_000_000_000;
const pools = (client: string) => [`C#${client}`, `P#report#${client}`, "W#report"];

/** Writes items of the client into every kind of partition. */
async function leaveTraces(client: string): Promise<void> {
  const [format, execution] = [1, `exec_${client}`] as const;
  await stores.clients.create({ format, slug: client, name: client, pins: {}, createdAt: at });
  const deed = { format, id: `01${client}`, at, action: "key.created", by: null, client, subject: "k", detail: {} };
  await stores.audit.append(deed as Parameters<ServiceStores["audit"]["append"]>[0]);
  await stores.deliveries.begin({
    format,
    key: client,
    id: `dlv_${client}`,
    type: "mail",
    workflow: "report",
    trigger: "mail-1",
    client,
    at,
    from: "ann@example.com",
    about: "Hi",
    dedupe: "<1@x>",
    status: "started",
    execution,
    reason: null,
    expiresAt,
  });
  await stores.rateStore.add({ id: `key_${client}`, client }, { beginsAt: 0, seconds: 10 }, 1, 9);
  const attempt = { principal: `key_${client}`, client, key: "k", fingerprint: "f", id: "01", since: at, expiresAt };
  await stores.attempts.begin({ format, ...attempt }, 0);
  await stores.spending.note(client, "2026-11", { execution, scope: "", seq: 1 }, 0.5);
  const figures = { workflowId: "report", version: 1, client, status: "completed", nodes: {} } as const;
  await stores.stats.put({ format, execution, ...figures, endedAt: at, durationMs: 1 });
  await stores.uploads.create({ format, id: `upl_${client}`, client, bytes: 1, type: "a/b", createdAt: at, expiresAt });
  const owner = { client };
  const sealed = { owner, name: "box", kind: "custom", sealed: "s", key: "k", revision: 1, changedAt: at } as const;
  await stores.credentialStore.put({ format, ...sealed });
  await stores.slots.rank("S", client);
  await stores.slots.enqueue({ execution, pools: pools(client) });
  for (const pool of pools(client)) await stores.slots.take(pool, execution, "1", 9);
}

beforeAll(async () => {
  stores = createServiceStores({ ...table, bucket });
  for (const client of ["acme", "my-acme", "acme-2"]) await leaveTraces(client);
  await stores.rateStore.add({ id: "key_all", client: null }, { beginsAt: 0, seconds: 10 }, 1, 9);
});

/** Returns the keys of all items that name the client in any attribute. */
async function partitionsNaming(client: string): Promise<string[]> {
  const { Items } = await documentMethods(table.client).scan({ TableName: table.table }).promise();
  const words = new RegExp(`(^|[^-\\w])((exec|key|dlv|upl)_)?${client}([^-\\w]|$)`);
  const naming = (Items as Record<string, unknown>[]).filter((item) => words.test(JSON.stringify(item)));
  return naming.map(({ pk, sk }) => `${pk} ${sk}`.replaceAll(client, "*")).sort();
}

it("the eraser deletes the items of a client in every partition, but no items of clients with similar names", async () => {
  const before = await partitionsNaming("my-acme");
  expect(before).toHaveLength(18);
  for (let cursor: string | undefined; ; ) {
    cursor = await stores.eraser.rest("acme", cursor);
    if (cursor === undefined) break;
  }
  expect(await partitionsNaming("acme")).toEqual([
    "A A#01*", // The audit log stays.
    "CLIENT#* CLIENT", // The caller of the eraser deletes the record of the client last.
    "Q#C#* POOL",
    "Q#P#report#* POOL",
    "Q#W#report SLOTS", // The slot and the ticket in the next line are removed together with their run.
    "Q#W#report T#exec_*",
  ]);
  for (const other of ["my-acme", "acme-2"]) expect(await partitionsNaming(other)).toEqual(before);
});

/** Creates an empty table that records its requests. */
function watched() {
  const asked: { name: string; input: object }[] = [];
  const send = async (command: { input: object }) => {
    asked.push({ name: command.constructor.name, input: command.input });
    return {};
  };
  return { asked, connection: { client: { send } as never, table: "nova" } };
}

it.each<[string, (eraser: ReturnType<typeof createEraser>) => Promise<unknown>]>([
  ["the contents of a run", (eraser) => eraser.contents({ execution: "exec_1", scope: "" })],
  ["the tasks of a run", (eraser) => eraser.traces("exec_1")],
  ["all items of a client that belong to no run", (eraser) => eraser.rest("acme", undefined)],
])("the eraser reads %s with a consistent read", async (_what, erase) => {
  const { asked, connection } = watched();
  await erase(createEraser(connection, {} as never));
  const reads = asked.filter(({ name }) => ["QueryCommand", "ScanCommand"].includes(name));
  expect(reads.map(({ input }) => "ConsistentRead" in input && input.ConsistentRead)).toEqual([true]);
});
