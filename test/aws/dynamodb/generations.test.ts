import type { Generation, GenerationStore } from "@nova/engine";
import { beforeAll, describe, expect, test } from "vitest";
import { createGenerationStore } from "../../../packages/aws/src/dynamodb/generations.ts";
import { useTable } from "../support/endpoints.ts";

const table = useTable();
let store: GenerationStore;
beforeAll(() => {
  store = createGenerationStore(table);
});

const base: Generation = {
  format: 1,
  workflowId: "bills",
  node: "sum",
  client: null,
  key: "a".repeat(64),
  ingredients: {
    prompt: "Add up the lines.",
    node_type: "action",
    edges: [],
    generator: "1",
    settings: "",
    template: "1",
    reads: { "order.lines": "list", "order.discount?": "number" },
    guides: { money: "b".repeat(64) },
    model: "default",
    requirements: ["lxml"],
    lib: { "mails.py": "c".repeat(64) },
  },
  codeHash: "d".repeat(64),
  code: 'context["total"] = 7\n',
  status: "candidate",
  origin: "generated",
  model: "gpt-6-luna",
  cost: { usd: 0.00123, tokens_input: 900, tokens_cached: 400, tokens_output: 120 },
  createdAt: "2026-11-22T10:00:00.000Z",
};

test("pinned code is stored with all fields, and other code with the same id does not replace it", async () => {
  const proven = { provenBy: "exec_01", approved: { by: "ada", at: base.createdAt }, embedding: [0.1235, -1, 0] };
  const whole = { ...base, ...proven, node: "whole" };
  expect(await store.create(whole)).toBe(true);
  expect(await store.create({ ...whole, model: "another" })).toBe(false);
  expect(await store.of("bills", "whole", null)).toEqual([whole]);
});

test("two different pieces of code with the same key are both stored", async () => {
  const times = ["2026-11-22T10:00:01.000Z", "2026-11-22T10:00:03.000Z", "2026-11-22T10:00:02.000Z"];
  for (const [n, createdAt] of times.entries()) {
    await store.create({ ...base, node: "many", codeHash: String(n).repeat(64), createdAt });
  }
  const found = await store.of("bills", "many", null);
  expect(found.map(({ createdAt }) => createdAt).toSorted()).toEqual(times.toSorted());
});

test("pinned code is separated by workflow, node and client, even if one name is a prefix of another", async () => {
  const places: [string, string, string | null][] = [
    ["apart", "sum", null],
    ["apart", "sum", "acme"],
    ["apart", "sum", "acme-2"],
    ["apart", "sum_2", null],
    ["apart-2", "sum", null],
  ];
  for (const [workflowId, node, client] of places) await store.create({ ...base, workflowId, node, client });
  for (const [workflowId, node, client] of places) {
    expect(await store.of(workflowId, node, client)).toEqual([{ ...base, workflowId, node, client }]);
  }
  expect(await store.ofWorkflow("apart")).toHaveLength(4);
  expect(await store.ofWorkflow("nothing")).toEqual([]);
});

test("the pinned code of a node is read with one consistent query", async () => {
  await store.of("bills", "sum", null);
  expect(table.operations).toEqual(["Query"]);
  expect(table.requests[0]).toMatchObject({ ConsistentRead: true });
});

describe("an update of pinned code", () => {
  test("changes its status, proof and approval only", async () => {
    const one = { ...base, node: "updated" };
    await store.create(one);
    await store.update(one, { status: "pinned", provenBy: "exec_01" });
    await store.update(one, { approved: { by: "ada", at: base.createdAt } });
    await store.update(one, { status: "replaced" });
    const approved = { by: "ada", at: base.createdAt };
    expect(await store.of("bills", "updated", null)).toEqual([
      { ...one, status: "replaced", provenBy: "exec_01", approved },
    ]);
  });

  test("with an unknown id stores nothing", async () => {
    await expect(store.update({ ...base, node: "nobody" }, { status: "pinned" })).rejects.toThrow();
    expect(await store.of("bills", "nobody", null)).toEqual([]);
  });
});

test("pinned code that is too large for a DynamoDB item is refused", async () => {
  const half = "#".repeat(160_000);
  await expect(store.create({ ...base, node: "large", code: half, analysis: half })).rejects.toThrow(/32\d{4} bytes/);
  const large = { ...base, node: "large", code: "# é".repeat(100_000) };
  await expect(store.create(large)).rejects.toThrow(/node "large" has 40\d{4} bytes, at most 300000.*into the context/);
  expect(await store.create({ ...base, node: "large", code: "#".repeat(250_000) })).toBe(true);
});
