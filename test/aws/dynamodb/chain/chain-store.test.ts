import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type ChainStore, type EntryId, type StoredEntry, StoreUnavailable, type Turn } from "@nova/engine";
import { beforeAll, describe, expect, test } from "vitest";
import { createChainStore } from "../../../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { documentMethods } from "../../../../packages/aws/src/dynamodb/document-methods.ts";
import { failing, useTable } from "../../support/endpoints.ts";

const table = useTable();
let chain: ChainStore;
beforeAll(() => {
  chain = createChainStore(table);
});

const held: Turn = { node: "extract", state: "held", sandbox: "sbx1", attempt: 1, since: "2026-11-21T10:00:00.000Z" };
let executions = 0;
const link = (seq: number, scope = "", execution = `exec_${++executions}`): EntryId => ({ execution, scope, seq });
const next = (at: EntryId, by = 1): EntryId => ({ ...at, seq: at.seq + by });
const entry = (name: string): StoredEntry => ({
  head: JSON.stringify({ name, big: "12345678901234567890" }),
  hash: `hash of ${name}`,
  contents: {
    context: { text: '{"total":850.0,"text":"\\ud83d\\ude00 é"}' },
    logs: { blob: { sha256: "ab", bytes: 9 } },
  },
});

describe("readTail", () => {
  test("reads the previous entry, the turn and the entry in one consistent query", async () => {
    const at = link(3);
    await chain.putEntry(at, entry("before"));
    await chain.putTurn(next(at), held, null);
    await chain.putEntry(next(at), entry("own"));
    table.requests.length = 0;
    expect(await chain.readTail(at)).toEqual({
      here: entry("before"),
      next: { seq: 4, turn: held, entry: entry("own") },
    });
    expect(table.requests).toMatchObject([{ ConsistentRead: true }]);
  });

  test("ignores turns with other numbers and items of other scopes", async () => {
    const at = link(1);
    await chain.putTurn(at, held, null);
    await chain.putTurn(next(at, 2), held, null);
    await chain.putEntry({ ...next(at), scope: "/each@1.0" }, entry("branch"));
    expect(await chain.readTail(at)).toEqual({ next: { seq: 2 } });
  });

  test("finds the first turn of a branch, whose entry numbers start at 1", async () => {
    const at = link(0, "/each@7.12");
    await chain.putTurn(next(at), held, null);
    expect(await chain.readTail(at)).toEqual({ next: { seq: 1, turn: held } });
  });
});

describe("the turns of entries", () => {
  test("are given to only one of two deliveries that try to take the same turn at the same time", async () => {
    const at = link(1);
    const both = await Promise.all([chain.putTurn(at, held, null), chain.putTurn(at, held, null)]);
    expect(both.sort()).toEqual([false, true]);
  });

  test.each<[string, Turn]>([
    ["another state", { ...held, state: "failing" }],
    ["another sandbox", { ...held, sandbox: "sbx2" }],
    ["no sandbox", { ...held, sandbox: null }],
    ["another attempt", { ...held, attempt: 2 }],
  ])("are not replaced if the caller expects the stored turn to have %s", async (_, expected) => {
    const at = link(1);
    await chain.putTurn(at, held, null);
    expect(await chain.putTurn(at, { ...held, state: "closed" }, expected)).toBe(false);
    expect((await chain.read(at)).turn).toEqual(held);
  });

  test("are replaced if state, sandbox and attempt are the values that the caller expects, even if `since` differs", async () => {
    const at = link(1);
    const nameless = { ...held, sandbox: null };
    await chain.putTurn(at, nameless, null);
    const failingTurn = { ...nameless, state: "failing" } as const;
    expect(await chain.putTurn(at, failingTurn, { ...nameless, since: "another time" })).toBe(true);
    expect((await chain.read(at)).turn).toEqual(failingTurn);
  });

  test("are not created by a write that expects an existing turn", async () => {
    expect(await chain.putTurn(link(1), held, held)).toBe(false);
  });
});

test("the second of two entries with the same number is refused, and the first one stays on the chain", async () => {
  const at = link(2);
  expect(await chain.putEntry(at, entry("first"))).toBe(true);
  expect(await chain.putEntry(at, entry("second"))).toBe(false);
  expect(await chain.read(at)).toEqual({ seq: 2, entry: entry("first") });
});

test("a close entry is stored with its signature", async () => {
  const at = link(9);
  await chain.putEntry(at, { ...entry("close"), signature: "mac" });
  expect((await chain.read(at)).entry?.signature).toBe("mac");
});

test.each<[string, string]>([
  ["#0", "the turn at link 1"],
  ["#1", "the entry at link 1"],
])("reading an item of the chain that lacks fields throws an error that names the item (%s)", async (kind, name) => {
  const at = link(1);
  const place = { partition: at.execution, scope: "", seq: 1, kind: kind.slice(1), format: 1 };
  const Item = { pk: `C#${at.execution}`, sk: `L##0000000001${kind}`, ...place };
  await documentMethods(table.client).put({ TableName: table.table, Item }).promise();
  await expect(chain.read(at)).rejects.toThrow(
    `${name} of ${at.execution} lacks fields - the table was edited by hand`,
  );
});

describe("the function `tip`", () => {
  test("returns the last entry of a scope and the turn after it, newest first", async () => {
    const at = link(9);
    await chain.putEntry(at, entry("nine"));
    await chain.putEntry(next(at), entry("ten"));
    await chain.putTurn(next(at, 2), held, null);
    expect(await chain.tip(at.execution, "")).toEqual([
      { seq: 11, turn: held },
      { seq: 10, entry: entry("ten") },
    ]);
  });

  test("returns the turn and the entry with the same number together", async () => {
    const at = link(4);
    await chain.putTurn(at, held, null);
    await chain.putEntry(at, entry("own"));
    expect(await chain.tip(at.execution, "")).toEqual([{ seq: 4, turn: held, entry: entry("own") }]);
  });

  test("ignores entries of other scopes", async () => {
    const at = link(1, "/each@3.1");
    await chain.putEntry(at, entry("branch 1"));
    for (const scope of ["/each@3.10", "/each@3.1/inner@2.0", ""]) {
      await chain.putEntry({ ...at, scope, seq: 5 }, entry(scope));
    }
    expect(await chain.tip(at.execution, "/each@3.1")).toEqual([{ seq: 1, entry: entry("branch 1") }]);
  });

  test("returns an empty list for an unknown scope", async () => {
    expect(await chain.tip("exec_none", "")).toEqual([]);
  });
});

describe("the recorded steps of a prompt node", () => {
  test("are read in order, for one entry only", async () => {
    const at = link(1);
    for (const step of [10, 2, 1]) await chain.putStep(at, { step, text: `step ${step}`, hash: `h${step}` });
    await chain.putStep(next(at), { step: 1, text: "other", hash: "o" });
    expect((await chain.steps(at)).map(({ step }) => step)).toEqual([1, 2, 10]);
  });

  test("keep the first text if a delivery writes another text under the same step number", async () => {
    const at = link(1);
    expect(await chain.putStep(at, { step: 1, text: "first", hash: "1" })).toBe(true);
    expect(await chain.putStep(at, { step: 1, text: "second", hash: "2" })).toBe(false);
    expect(await chain.steps(at)).toEqual([{ step: 1, text: "first", hash: "1" }]);
  });
});

describe("the chain of a prompt node", () => {
  test("has the contents of steps in a separate field, which an erasure removes", async () => {
    const at = link(1);
    const contents = { code: { text: "x = 1" }, prompt: { blob: { sha256: "ab", bytes: 9000 } } };
    await chain.putStep(at, { step: 1, text: "{}", hash: "h", contents });
    await chain.putStep(at, { step: 2, text: "{}", hash: "h", contents: {} });
    expect(await chain.steps(at)).toEqual([
      { step: 1, text: "{}", hash: "h", contents },
      { step: 2, text: "{}", hash: "h", contents: {} },
    ]);
  });

  test("has the steps of the first attempt first, then the steps of later attempts, and notes last", async () => {
    const at = link(1);
    for (const step of [5002, 1002, 2]) await chain.putStep(at, { step, text: "{}", hash: "h" });
    expect((await chain.steps(at)).map(({ step }) => step)).toEqual([2, 1002, 5002]);
  });

  test.each([
    ["the id of the pinned code with which the delivery started", { generation: "ab12" }],
    ["the number of valid steps at each change of the sandbox, and the end of an attempt", { kept: [0, 4, -1] }],
    ["the time at which the next attempt may start", { sandbox: null, due: "2026-01-01T00:00:10.000Z" }],
    ["the number of deliveries that have failed", { failedDeliveries: 3 }],
    ["the addresses of host names", { addresses: { "db.acme.test": ["10.0.0.7", "2001:db8::7"] } }],
  ])("stores in its turn %s", async (_what, more) => {
    const at = link(1);
    await chain.putTurn(at, { ...held, ...more }, null);
    expect((await chain.read(at)).turn).toEqual({ ...held, ...more });
    expect(await chain.putTurn(at, { ...held, ...more, state: "failing" }, { ...held, ...more })).toBe(true);
    expect((await chain.read(at)).turn).toEqual({ ...held, ...more, state: "failing" });
  });
});

test("all turns and entries of a scope are read over several pages, each exactly once", async () => {
  const at = link(0);
  const large = { ...entry("large"), contents: { code: { text: "x".repeat(30_000) } } };
  const seqs = Array.from({ length: 40 }, (_, seq) => seq);
  const scopes = ["", "/fan@1.a", "/fan@1.a/in@1.b", "/fan@1.ab"];
  for (const scope of scopes) {
    for (const seq of seqs) {
      await chain.putTurn({ ...at, scope, seq }, held, null);
      await chain.putEntry({ ...at, scope, seq }, large);
    }
  }
  await chain.putStep(at, { step: 1, text: "not a link", hash: "h" });
  table.operations.length = 0;
  const found = await Array.fromAsync(chain.links(at.execution, scopes[1] as string));
  expect(table.operations.length).toBeGreaterThan(1);
  expect(found.map(({ seq }) => seq)).toEqual(seqs);
  expect(found.every(({ turn, entry: stored }) => turn && stored)).toBe(true);
});

test.each([
  ["", ""],
  ["/fan@1.a", ""],
  ["/each@1.12", "/each@1.12"],
  ["/each@1.12/fan@2.a", "/each@1.12"],
  ["/fan@1.a/each@2.0/each@3.7/fan@4.b", "/fan@1.a/each@2.0/each@3.7"],
])(
  "the turns and entries of scope %j are in the partition %j of their run, because each map item has a partition",
  async (scope, item) => {
    const at = link(1, scope);
    await chain.putEntry(at, entry("own"));
    expect(table.requests[0]).toMatchObject({ Item: { pk: { S: `C#${at.execution}${item}` } } });
  },
);

test("the store of the chain uses only conditional puts and consistent reads", async () => {
  const at = link(1);
  await chain.putTurn(at, held, null);
  await chain.putTurn(at, { ...held, state: "failing" }, held);
  await chain.putEntry(at, entry("own"));
  await chain.putStep(at, { step: 1, text: "t", hash: "h" });
  await Promise.all([chain.read(at), chain.readTail(at), chain.tip(at.execution, ""), chain.steps(at)]);
  await Array.fromAsync(chain.links(at.execution, ""));
  for (const [index, operation] of table.operations.entries()) {
    const property = operation === "PutItem" ? "ConditionExpression" : "ConsistentRead";
    expect(table.requests[index], operation).toHaveProperty(property);
  }
  expect(new Set(table.operations)).toEqual(new Set(["PutItem", "Query"]));
});

describe("an outage of DynamoDB", () => {
  test.each(["throttle", "error"] as const)(
    "is hidden from the caller by a retry if it is short (%s)",
    async (fault) => {
      table.faults = failing(3, fault);
      expect(await chain.putEntry(link(1), entry("own"))).toBe(true);
    },
  );

  test("makes a write return false after the retry if it loses the first response, although the entry is stored", async () => {
    const at = link(1);
    table.faults = failing(1, "lost");
    expect(await chain.putEntry(at, entry("own"))).toBe(false);
    expect((await chain.read(at)).entry).toEqual(entry("own"));
  });

  test.each(["throttle", "error"] as const)("causes the error StoreUnavailable if it lasts (%s)", async (fault) => {
    table.faults = () => fault;
    const hasty = createChainStore({ ...table, client: new DynamoDBClient({ maxAttempts: 1 }) });
    await expect(hasty.readTail(link(1))).rejects.toThrow(StoreUnavailable);
    await expect(hasty.putEntry(link(1), entry("own"))).rejects.toThrow(/try again/);
  });
});

const entryOf = (name: string, bytes = 10): StoredEntry => ({
  head: JSON.stringify({ name, text: "x".repeat(bytes) }),
  hash: `hash of ${name}`,
  contents: {},
});

async function put(scope: string, seqs: number[], bytes?: number): Promise<void> {
  for (const seq of seqs) await chain.putEntry({ execution: "exec_1", scope, seq }, entryOf(`${scope}#${seq}`, bytes));
}

test("the entries of many scopes are read in order, with one request for each hundred entries", async () => {
  const scopes = Array.from({ length: 70 }, (_, item) => `/each@3.${item}`);
  await Promise.all(scopes.map((scope) => put(scope, [1, 2, 3])));
  await chain.putTurn({ execution: "exec_1", scope: "/each@3.0", seq: 1 }, held, null);
  table.operations.length = 0;
  const tips = scopes.map((scope) => ({ scope, seq: 2 }));
  const found = await chain.entries("exec_1", tips);
  expect(Array.from(found.keys())).toEqual(scopes);
  for (const scope of scopes) {
    expect(found.get(scope)).toEqual([1, 2].map((seq) => ({ seq, entry: entryOf(`${scope}#${seq}`) })));
  }
  expect(table.operations).toEqual(["BatchGetItem", "BatchGetItem"]);
});

test("a read of many scopes leaves out missing entries, and returns an empty list for a scope without entries", async () => {
  await put("/f@1.left", [1, 3]);
  const found = await chain.entries("exec_1", [
    { scope: "/f@1.left", seq: 3 },
    { scope: "/f@1.right", seq: 0 },
  ]);
  expect(found.get("/f@1.left")?.map(({ seq }) => seq)).toEqual([1, 3]);
  expect(found.get("/f@1.right")).toEqual([]);
  expect(await chain.entries("exec_1", [])).toEqual(new Map());
});

test("entries that exceed the size of one DynamoDB response are read with several requests", async () => {
  await put(
    "/large@1.0",
    Array.from({ length: 60 }, (_, i) => i + 1),
    300_000,
  );
  const found = await chain.entries("exec_1", [{ scope: "/large@1.0", seq: 60 }]);
  expect(found.get("/large@1.0")?.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test("the turns and the entries of many scopes are read together, with one request for each fifty scopes", async () => {
  const scopes = Array.from({ length: 70 }, (_, item) => `/held@3.${item}`);
  await Promise.all(scopes.slice(0, 60).map((scope) => put(scope, [1])));
  for (const scope of scopes.slice(50, 65)) await chain.putTurn({ execution: "exec_1", scope, seq: 1 }, held, null);
  table.operations.length = 0;
  const found = await chain.linksAt(
    "exec_1",
    scopes.map((scope) => ({ scope, seq: 1 })),
  );
  expect(table.operations).toEqual(["BatchGetItem", "BatchGetItem"]);
  expect(found.get(scopes[0] as string)).toEqual({ seq: 1, entry: entryOf(`${scopes[0]}#1`) });
  expect(found.get(scopes[55] as string)).toEqual({ seq: 1, entry: entryOf(`${scopes[55]}#1`) });
  expect(found.get(scopes[64] as string)).toEqual({ seq: 1, turn: held });
  expect(found.has(scopes[65] as string)).toBe(false);
  expect(await chain.linksAt("exec_1", [])).toEqual(new Map());
});
