import { expect, it } from "vitest";
import { approval, codesOf, end, graph, type Loose, parse, start } from "../../definition.ts";

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
])("an approval with %j has %j", (fields, expected) => {
  expect(codesOf(asking(fields))).toEqual(expected);
});

it("an approval has forms that fit into one item of the table", () => {
  const large = { description: "x".repeat(60_000) };
  expect(codesOf(asking({ form: large, forms: { approved: {} } }))).toEqual([]);
  expect(codesOf(asking({ form: large, forms: { approved: large } }))).toEqual(["NOVA416 $.nodes[1].forms"]);
});

it("an approval does not put its answer under a reserved key if its id is one", () => {
  expect(codesOf(asking({}, "error"))).toEqual(["NOVA502 $.nodes[1].id"]);
  expect(codesOf(asking({ into: "answer" }, "error"))).toEqual([]);
});

it("an approval has a message about the format of durations", () => {
  expect(parse(asking({ timeout: "3 days" })).findings[0]?.message).toBe(
    'node "ask": timeout must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year, not "3 days"',
  );
});
