import { expect, it } from "vitest";
import {
  action,
  approval,
  child,
  codesOf,
  each,
  end,
  graph,
  type Loose,
  mustParse,
  parse,
  row,
  start,
  wait,
} from "../definition.ts";

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
])("a map with the fields %j gets the findings %j", (fields, expected) => {
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
])("a workflow node with the fields %j gets the findings %j", (fields, expected) => {
  expect(codesOf(row(child("bill", fields)))).toEqual(expected);
});

it("a workflow node without the field `output` stores the last context of its run under the id of the node", () => {
  expect(codesOf(row(child("error")))).toEqual(["NOVA502 $.nodes[1].id"]);
  expect(codesOf(row(child("error", { output: { total: "total" } })))).toEqual([]);
  const [, bill] = mustParse(row(child("bill"))).nodes;
  expect(bill).toEqual({ id: "bill", type: "workflow", workflow: "billing", output: { bill: "$" } });
});

const childMap = (fields: Loose = {}) => ({ id: "each", type: "map", items: "mails", workflow: "billing", ...fields });

it("a map with the field `workflow` has a body of one workflow node", () => {
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
])("a map with the field `workflow` and the fields %j gets the findings %j", (fields, expected) => {
  expect(codesOf(row(childMap(fields)))).toEqual(expected);
});

it("a node gets a finding if it has the id of the workflow node inside a map with the field `workflow`", () => {
  expect(codesOf(row(childMap(), action("each_item")))).toEqual(["NOVA111 $.nodes[1].id"]);
});

function approverAt(index: number): string {
  return `NOVA431 $.nodes[1].approvers.any[${index}]`;
}

function asking(fields: Loose, id = "ask"): Loose {
  return graph([start, approval(id, fields), end], [`start > ${id}`, `${id} > end: "default"`]);
}

it.each<[Loose, string[]]>([
  [{}, []],
  [{ message: "Pay {{invoice.total}}?", to: ["a@b.c"], into: "answer", timeout: 60, name: "Ask" }, []],
  [{ message: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ message: " " }, ["NOVA104 $.nodes[1].message"]],
  [{ message: "Pay {{ }}?" }, ["NOVA417 $.nodes[1].message"]],
  [{ message: "Pay {{total?" }, ["NOVA417 $.nodes[1].message"]],
  [{ choices: [] }, ["NOVA410 $.nodes[1].choices"]],
  [{ choices: ["yes", 1] }, ["NOVA410 $.nodes[1].choices[1]"]],
  [{ choices: ["yes", "timeout", "default"] }, ["NOVA410 $.nodes[1].choices[1]", "NOVA410 $.nodes[1].choices[2]"]],
  [{ choices: ["yes", "no", "yes"] }, ["NOVA410 $.nodes[1].choices[2]"]],
  [{ approvers: { any: ["CFO@acme.com", "role:finance", "group:Domain Admins"], count: 3, not: ["starter"] } }, []],
  [{ remind: ["1d", 3600], notify: ["https://hooks.example.com/x"] }, []],
  [{ remind: "1d" }, ["NOVA409 $.nodes[1].remind"]],
  [{ remind: ["soon"] }, ["NOVA409 $.nodes[1].remind[0]"]],
  [{ remind: ["1d", "3d"], timeout: "3d" }, ["NOVA409 $.nodes[1].remind[1]"]],
  [{ notify: "https://hooks.example.com" }, ["NOVA104 $.nodes[1].notify"]],
  [{ notify: ["hooks.example.com"] }, ["NOVA104 $.nodes[1].notify[0]"]],
  [{ notify: ["https://me:secret@hooks.example.com"] }, ["NOVA104 $.nodes[1].notify[0]"]],
  [{ approvers: ["cfo@acme.com"] }, ["NOVA431 $.nodes[1].approvers"]],
  [{ approvers: {} }, ["NOVA106 $.nodes[1].approvers"]],
  [{ approvers: { any: [] } }, ["NOVA431 $.nodes[1].approvers.any"]],
  [{ approvers: { any: ["a@b.c"], all: [] } }, ["NOVA105 $.nodes[1].approvers.all"]],
  [{ approvers: { any: ["cfo"] } }, ["NOVA431 $.nodes[1].approvers.any[0]"]],
  [{ approvers: { any: ["a@b.c, d@e.f"] } }, ["NOVA431 $.nodes[1].approvers.any[0]"]],
  [{ approvers: { any: ["a@b.c", "role:", "group: x", "team:x", "role:a\n"] } }, [1, 2, 3, 4].map(approverAt)],
  [{ approvers: { any: ["a@b.c"], count: 2 } }, ["NOVA432 $.nodes[1].approvers.count"]],
  [{ approvers: { any: ["a@b.c", "A@b.c"], count: 2 } }, ["NOVA432 $.nodes[1].approvers.count"]],
  [{ approvers: { any: ["a@b.c", "role:finance"], count: 50 } }, []],
  [{ approvers: { any: ["role:finance"], count: 51 } }, ["NOVA431 $.nodes[1].approvers.count"]],
  [{ approvers: { any: ["role:finance"], count: 0 } }, ["NOVA431 $.nodes[1].approvers.count"]],
  [{ approvers: { any: ["role:finance"], count: 1.5 } }, ["NOVA431 $.nodes[1].approvers.count"]],
  [{ approvers: { any: ["role:finance"], not: ["start"] } }, ["NOVA431 $.nodes[1].approvers.not[0]"]],
  [{ approvers: { any: ["role:finance"], not: ["nobody"] } }, ["NOVA431 $.nodes[1].approvers.not[0]"]],
  [{ approvers: { any: ["role:finance"], not: ["starter", "ask"] } }, ["NOVA431 $.nodes[1].approvers.not[1]"]],
  [{ timeout: "3 days" }, ["NOVA409 $.nodes[1].timeout"]],
  [{ to: "a@b.c" }, ["NOVA104 $.nodes[1].to"]],
  [{ into: "my answer" }, ["NOVA418 $.nodes[1].into"]],
  [{ into: "error" }, ["NOVA502 $.nodes[1].into"]],
  [{ form: { properties: { reason: { type: "string" } }, required: ["reason"] } }, []],
  [{ form: "reason" }, ["NOVA416 $.nodes[1].form"]],
  [{ form: { reason: { type: "string" } } }, ["NOVA416 $.nodes[1].form"]],
  [{ form: { properties: { a: { type: "strng" } } } }, ["NOVA416 $.nodes[1].form.properties.a.type"]],
  [{ form: { properties: { a: { secret: true } } } }, ["NOVA416 $.nodes[1].form.properties.a.secret"]],
  [{ forms: { approved: { required: ["cost_center"] }, rejected: { properties: { why: { type: "string" } } } } }, []],
  [{ form: { required: ["why"] }, forms: { approved: { required: ["cost_center"] } } }, []],
  [{ forms: ["approved"] }, ["NOVA416 $.nodes[1].forms"]],
  [{ forms: { approved: "reason" } }, ["NOVA416 $.nodes[1].forms.approved"]],
  [{ forms: { rejected: { reason: { type: "string" } } } }, ["NOVA416 $.nodes[1].forms.rejected"]],
  [
    { forms: { approved: { properties: { a: { secret: true } } } } },
    ["NOVA416 $.nodes[1].forms.approved.properties.a.secret"],
  ],
  [{ forms: { aproved: {}, timeout: {} } }, ["NOVA430 $.nodes[1].forms.aproved", "NOVA430 $.nodes[1].forms.timeout"]],
  [{ choices: ["go"], forms: { approved: {} } }, ["NOVA430 $.nodes[1].forms.approved"]],
  [{ choices: ["go on"], form: {}, forms: { "go on": {} } }, ["NOVA430 $.nodes[1].form"]],
  [{ merge: "last" }, ["NOVA105 $.nodes[1].merge"]],
  [{ onError: "nobody" }, ["NOVA206 $.nodes[1].onError"]],
])("an approval with the fields %j gets the findings %j", (fields, expected) => {
  expect(codesOf(asking(fields))).toEqual(expected);
});

it("an approval gets a finding if all of its forms together do not fit into one DynamoDB item", () => {
  const large = { description: "x".repeat(60_000) };
  expect(codesOf(asking({ form: large, forms: { approved: {} } }))).toEqual([]);
  expect(codesOf(asking({ form: large, forms: { approved: large } }))).toEqual(["NOVA416 $.nodes[1].forms"]);
});

it("an approval gets a finding if its id is a reserved key of the context, unless the field `into` names another key", () => {
  expect(codesOf(asking({}, "error"))).toEqual(["NOVA502 $.nodes[1].id"]);
  expect(codesOf(asking({ into: "answer" }, "error"))).toEqual([]);
});

it("an approval with a wrong timeout gets a finding that explains the format of durations", () => {
  expect(parse(asking({ timeout: "3 days" })).findings[0]?.message).toBe(
    'node "ask": timeout must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year, not "3 days"',
  );
});

const event = { source: ["shop"], detail: { order: ["{{order.id}}"] } };
const total = (operation: object) => ({ event: { detail: { total: [operation] } } });

it.each<[Loose, string[]]>([
  [{ seconds: "15m" }, []],
  [{ until: "2026-01-31T09:00:00Z" }, []],
  [{ until: "2026-01-31T09:00+01:00" }, []],
  [{ until: "{{ order.due }}" }, []],
  [{ event, timeout: "1h", into: "news", onError: "end" }, []],
  [{ event, since: "start" }, []],
  [total({ numeric: [">", "{{least}}"] }), []],
  [total({ "anything-but": ["{{last}}"] }), ["NOVA425 $.nodes[1].event"]],
  [total({ "anything-but": { prefix: "{{last}}" } }), ["NOVA425 $.nodes[1].event"]],
  [{ event: { detail: { order: ["{{order}}"], total: [{ "anything-but": ["{{last}}"] }] } } }, []],
  [total({ wildcard: "{{customer}}-*" }), []],
  [{ event: { source: ["shop"], detail: { order: [{ prefix: "A" }] } } }, ["NOVA425 $.nodes[1].event"]],
  [{ event: { detail: { order: ["{{order + 1}}"] } } }, ["NOVA417 $.nodes[1].event"]],
  [{ event: { detail: { "{{order}}": ["{{order}}"] } } }, ['NOVA415 $.nodes[1].event.detail["{{order}}"]']],
  [{ event, since: "yesterday" }, ["NOVA413 $.nodes[1].since"]],
  [{ seconds: 1, since: "start" }, ["NOVA413 $.nodes[1].since"]],
  [total({ exists: "{{isThere}}" }), ["NOVA415 $.nodes[1].event.detail.total[0].exists"]],
  [{}, ["NOVA413 $.nodes[1]"]],
  [{ seconds: 1, until: "{{a}}", event }, ["NOVA413 $.nodes[1].until", "NOVA413 $.nodes[1].event"]],
  [{ seconds: 1, timeout: 3 }, ["NOVA413 $.nodes[1].timeout"]],
  [{ until: "{{a}}", into: "a" }, ["NOVA413 $.nodes[1].into"]],
  [{ seconds: 0 }, ["NOVA409 $.nodes[1].seconds"]],
  [{ seconds: true }, ["NOVA409 $.nodes[1].seconds"]],
  [{ until: "tomorrow" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-02-30T09:00:00Z" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-01-31T25:00:00Z" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-01-31T09:00:00" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "{{a}} o'clock" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: 3 }, ["NOVA414 $.nodes[1].until"]],
  [{ event: "paid" }, ["NOVA415 $.nodes[1].event"]],
  [{ event: { source: "shop" } }, ["NOVA415 $.nodes[1].event.source"]],
  [{ event: { detail: { n: [{ numeric: ["~", 1] }] } } }, ["NOVA415 $.nodes[1].event.detail.n[0].numeric"]],
  [{ event, into: "$news" }, ["NOVA418 $.nodes[1].into", "NOVA502 $.nodes[1].into"]],
])("a wait with the fields %j gets the findings %j", (fields, expected) => {
  expect(codesOf(row(wait("pause", fields)))).toEqual(expected);
});
