import type { ChainStore, StoredEntry } from "@nova/engine";
import { beforeAll, expect, test } from "vitest";
import { chainClient } from "../../../../packages/aws/src/clients/clients.ts";
import { createChainStore } from "../../../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { useTable } from "../../support/endpoints.ts";

const table = useTable();
let chain: ChainStore;
beforeAll(() => {
  chain = createChainStore({ ...table, client: chainClient(table.client) });
});

const entry = (name: string, bytes = 10): StoredEntry => ({
  head: JSON.stringify({ name, text: "x".repeat(bytes) }),
  hash: `hash of ${name}`,
  contents: {},
});

async function put(scope: string, seqs: number[], bytes?: number): Promise<void> {
  for (const seq of seqs) await chain.putEntry({ execution: "exec_1", scope, seq }, entry(`${scope}#${seq}`, bytes));
}

test("the entries of many scopes are read in order, a hundred per request", async () => {
  const scopes = Array.from({ length: 70 }, (_, item) => `/each@3.${item}`);
  await Promise.all(scopes.map((scope) => put(scope, [1, 2, 3])));
  await chain.putTurn(
    { execution: "exec_1", scope: "/each@3.0", seq: 1 },
    { node: "a", state: "held", sandbox: null, attempt: 1, since: "2026-11-21T10:00:00.000Z" },
    null,
  );
  table.operations.length = 0;
  const tips = scopes.map((scope) => ({ scope, seq: 2 }));
  const found = await chain.entries("exec_1", tips);
  expect(Array.from(found.keys())).toEqual(scopes);
  for (const scope of scopes) {
    expect(found.get(scope)).toEqual([1, 2].map((seq) => ({ seq, entry: entry(`${scope}#${seq}`) })));
  }
  expect(table.operations).toEqual(["BatchGetItem", "BatchGetItem"]);
});

test("missing entries are left out, and an empty scope has an empty list", async () => {
  await put("/f@1.left", [1, 3]);
  const found = await chain.entries("exec_1", [
    { scope: "/f@1.left", seq: 3 },
    { scope: "/f@1.right", seq: 0 },
  ]);
  expect(found.get("/f@1.left")?.map(({ seq }) => seq)).toEqual([1, 3]);
  expect(found.get("/f@1.right")).toEqual([]);
  expect(await chain.entries("exec_1", [])).toEqual(new Map());
});

test("entries that exceed one answer are read with several requests", async () => {
  await put(
    "/large@1.0",
    Array.from({ length: 60 }, (_, i) => i + 1),
    300_000,
  );
  const found = await chain.entries("exec_1", [{ scope: "/large@1.0", seq: 60 }]);
  expect(found.get("/large@1.0")?.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test("links of many scopes are read with their turns, fifty links per request", async () => {
  const scopes = Array.from({ length: 70 }, (_, item) => `/held@3.${item}`);
  const turn = { node: "a", state: "held", sandbox: null, attempt: 1, since: "2026-11-21T10:00:00.000Z" } as const;
  await Promise.all(scopes.slice(0, 60).map((scope) => put(scope, [1])));
  for (const scope of scopes.slice(50, 65)) await chain.putTurn({ execution: "exec_1", scope, seq: 1 }, turn, null);
  table.operations.length = 0;
  const found = await chain.linksAt(
    "exec_1",
    scopes.map((scope) => ({ scope, seq: 1 })),
  );
  expect(table.operations).toEqual(["BatchGetItem", "BatchGetItem"]);
  expect(found.get(scopes[0] as string)).toEqual({ seq: 1, entry: entry(`${scopes[0]}#1`) });
  expect(found.get(scopes[55] as string)).toEqual({ seq: 1, turn, entry: entry(`${scopes[55]}#1`) });
  expect(found.get(scopes[64] as string)).toEqual({ seq: 1, turn });
  expect(found.has(scopes[65] as string)).toBe(false);
  expect(await chain.linksAt("exec_1", [])).toEqual(new Map());
});
