import { expect, it } from "vitest";
import { action, child, codesOf, each, type Loose, mustParse, row } from "../../definition.ts";

it.each<[Loose, string[]]>([
  [{ items: "a.0.my list", as: "mail", into: "größe_2", max_concurrency: 1000, tolerated_failures: 3 }, []],
  [{ tolerated_failures: "100%" }, []],
  [{ items: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ items: "a..b" }, ["NOVA418 $.nodes[1].items"]],
  [{ items: ["a"] }, ["NOVA418 $.nodes[1].items"]],
  [{ items: "list | sort" }, ["NOVA418 $.nodes[1].items"]],
  [{ as: "the item" }, ["NOVA418 $.nodes[1].as"]],
  [{ as: "index" }, ["NOVA502 $.nodes[1].as"]],
  [{ into: "" }, ["NOVA418 $.nodes[1].into"]],
  [{ into: "error" }, ["NOVA502 $.nodes[1].into"]],
  [{ max_concurrency: 0 }, ["NOVA104 $.nodes[1].max_concurrency"]],
  [{ max_concurrency: 1001 }, ["NOVA104 $.nodes[1].max_concurrency"]],
  [{ tolerated_failures: "101%" }, ["NOVA104 $.nodes[1].tolerated_failures"]],
  [{ tolerated_failures: -1 }, ["NOVA104 $.nodes[1].tolerated_failures"]],
  [{ nodes: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ edges: "a > b" }, ["NOVA104 $.nodes[1].edges"]],
  [{ merge: "last" }, ["NOVA226 $.nodes[1].merge"]],
  [{ version: 2 }, ["NOVA420 $.nodes[1].version"]],
  [{ workflow: "billing" }, ["NOVA420 $.nodes[1].nodes", "NOVA420 $.nodes[1].edges"]],
])("a map with %j has %j", (fields, expected) => {
  expect(codesOf(row(each("m", [action("one")], [], fields)))).toEqual(expected);
});

it.each<[Loose, string[]]>([
  [{ version: 3, input: { invoice: "email.0.invoice", all: "$" }, output: { größe_2: "invoice.total" } }, []],
  [{ input: {}, output: {} }, []],
  [{ onError: "end" }, []],
  [{ workflow: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ workflow: "../Billing" }, ["NOVA419 $.nodes[1].workflow"]],
  [{ workflow: "b".repeat(65) }, ["NOVA419 $.nodes[1].workflow"]],
  [{ version: 0 }, ["NOVA419 $.nodes[1].version"]],
  [{ version: "latest" }, ["NOVA419 $.nodes[1].version"]],
  [{ input: "email" }, ["NOVA418 $.nodes[1].input"]],
  [{ input: { invoice: "a..b" } }, ["NOVA418 $.nodes[1].input.invoice"]],
  [{ input: { invoice: "$.a" } }, ["NOVA418 $.nodes[1].input.invoice"]],
  [{ input: { "the invoice": "a" } }, ['NOVA418 $.nodes[1].input["the invoice"]']],
  [{ output: { error: "a" } }, ["NOVA502 $.nodes[1].output.error"]],
  [{ merge: "last" }, ["NOVA226 $.nodes[1].merge"]],
  [{ code: "a = 1" }, ["NOVA105 $.nodes[1].code"]],
])("a workflow node with %j has %j", (fields, expected) => {
  expect(codesOf(row(child("bill", fields)))).toEqual(expected);
});

it("a workflow node has its own key for its result", () => {
  expect(codesOf(row(child("error")))).toEqual(["NOVA502 $.nodes[1].id"]);
  expect(codesOf(row(child("error", { output: { total: "total" } })))).toEqual([]);
  const [, bill] = mustParse(row(child("bill"))).nodes;
  expect(bill).toEqual({ id: "bill", type: "workflow", workflow: "billing", output: { bill: "$" } });
});

const childMap = (fields: Loose = {}) => ({ id: "each", type: "map", items: "mails", workflow: "billing", ...fields });

it("a workflow node is the body of a map that runs a workflow", () => {
  const fields = { as: "mail", version: 2, input: { vat: "rates.vat" }, output: { total: "invoice.total" } };
  const [, map] = mustParse(row(childMap(fields))).nodes;
  expect(map).toMatchObject({ as: "mail", maxConcurrency: 5, into: "results" });
  expect(map).toHaveProperty("body", {
    nodes: [
      {
        id: "each_item",
        type: "workflow",
        workflow: "billing",
        version: 2,
        input: { mail: "mail", index: "index", vat: "rates.vat" },
        output: { total: "invoice.total" },
      },
    ],
    edges: [],
  });
  expect(map).not.toHaveProperty("workflow");
});

it.each<[Loose, string[]]>([
  [{ workflow: "Billing" }, ["NOVA419 $.nodes[1].workflow"]],
  [{ output: { "a b": "a" } }, ['NOVA418 $.nodes[1].output["a b"]']],
  [{ id: "e".repeat(62) }, ["NOVA110 $.nodes[1].id"]],
])("a map with %j has %j", (fields, expected) => {
  expect(codesOf(row(childMap(fields)))).toEqual(expected);
});

it("a workflow node of a map has an id that no other node may have", () => {
  expect(codesOf(row(childMap(), action("each_item")))).toEqual(["NOVA111 $.nodes[1].id"]);
});
