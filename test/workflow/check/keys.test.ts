import { findNearKey, readCodeKeys } from "@nova/python";
import { expect, it } from "vitest";
import { action, approval, decision, each, end, graph, type Loose, parse, prompt, row, start } from "../definition.ts";

function findingsOf(definition: unknown, files?: Record<string, string>) {
  const { findings, keyFindings } = parse(definition, files);
  return [...findings, ...keyFindings({ readCodeKeys, findNearKey })];
}

const codesOf = (definition: unknown) => findingsOf(definition).map(({ code, path }) => `${code} ${path}`);

const sets = 'context["total"] = 1';
const [find, convert] = [action("find", { code: sets }), action("convert", { code: "context['total'] = 2" })];
const warning = "NOVA504 $.nodes[2].code";

it("a key of the context causes a finding if the next node overwrites it before any node reads it", () => {
  expect(findingsOf(row(find, convert))).toMatchObject([
    {
      code: "NOVA504",
      severity: "warning",
      message: expect.stringMatching(/^"convert" sets context\["total"\] before any node reads the value of "find"/),
    },
  ]);
});

it("the finding about an overwritten key names the line in the code file", () => {
  const files = { "convert.py": "# the second\nx = 1\ncontext['total'] = x" };
  const found = findingsOf(row(find, action("convert", { code: undefined, codeFile: "convert.py" })), files);
  expect(found).toMatchObject([{ code: "NOVA504", file: "convert.py", line: 3, column: 1 }]);
});

it("an overwritten key causes a finding after nodes that do not read it, and on both sides of a decision", () => {
  const both = (left: string, right: string): Loose =>
    graph(
      [start, find, decision("d"), action("a", { code: left }), action("b", { code: right }), end],
      ["start > find", "find > d", "d > a: true", "d > b: false", "a > end", "b > end"],
    );
  expect(codesOf(row(find, action("wait"), convert))).toEqual(["NOVA504 $.nodes[3].code"]);
  expect(codesOf(both(sets, sets))).toEqual(["NOVA504 $.nodes[3].code"]);
  expect(codesOf(both(sets, 'print(context["total"])'))).toEqual([]);
  expect(codesOf(both(sets, "pass"))).toEqual([]);
});

it.each([
  ["the overwriting node reads it", 'context["total"] = context["total"] * 2'],
  ["the overwriting node reads it with get", 'old = context.get("total")\ncontext["total"] = 2'],
  ["the overwriting node sets it in some runs only", 'if x:\n    context["total"] = 2'],
  ["the overwriting node adds to it", 'context["total"] += 2'],
  ["the overwriting node tests whether it is present", 'old = "total" in context\ncontext["total"] = 2'],
  ["the overwriting node reads all keys", 'print(json.dumps(context))\ncontext["total"] = 2'],
  ["the overwriting node computes a key", 'x = context[key]\ncontext["total"] = 2'],
  ["the overwriting node may exit before its assignment", 'if x: exit()\ncontext["total"] = 2'],
  ["the overwriting assignment is only a text in the code", '"""\ncontext["total"] = 2\n"""'],
  ["the overwriting assignment is only a comment in the code", '# context["total"] = 2'],
  ["the overwriting node compares it", 'context["total"] == 2'],
  ["the second node sets another key", 'context["Total"] = 2'],
])("an overwritten key of the context causes no finding if %s", (_, code) => {
  expect(codesOf(row(find, action("second", { code })))).toEqual([]);
});

it.each([
  [
    "a node between the two assignments reads it",
    row(find, action("show", { code: "print(context['total'])" }), convert),
  ],
  [
    "a node between the two assignments passes the context to a function",
    row(find, action("show", { code: "show(context)" }), convert),
  ],
  ["a later node reads older results", row(find, convert, action("show", { code: 'print(outputs["find"])' }))],
  ["a model writes code of a later node, which may read older results", row(find, convert, prompt("c"))],
  ["the overwriting node may fail, and its onError reads the key", row(find, { ...convert, onError: "end" })],
  [
    "it is branch_decision",
    row(
      find,
      action("b", { code: 'context["branch_decision"] = 1' }),
      action("c", { code: 'context["branch_decision"] = 1' }),
    ),
  ],
])("an overwritten key of the context causes no finding if %s", (_, definition) => {
  expect(codesOf(definition)).toEqual([]);
});

it("the check of overwritten keys compares a branch with nodes after the join, but not with other branches", () => {
  const nodes = [{ ...start, merge: "last" }, find, convert, end];
  expect(codesOf(graph(nodes, ["start > find", "start > convert", "find > end", "convert > end"]))).toEqual([]);
  const behind = [{ ...start, merge: "last" }, find, action("other"), convert, end];
  const arrows = ["start > find", "start > other", "find > convert", "other > convert", "convert > end"];
  expect(codesOf(graph(behind, arrows))).toEqual(["NOVA504 $.nodes[3].code"]);
});

it("the check of overwritten keys covers the body of a map, whose end counts as a reader of every key", () => {
  const inMap = (nodes: Loose[], arrows: string[]) => row(each("m", nodes, arrows));
  expect(codesOf(inMap([find, convert], ["find > convert"]))).toEqual(["NOVA504 $.nodes[1].nodes[1].code"]);
  const choosing = [find, decision("d"), convert, action("leave")];
  expect(codesOf(inMap(choosing, ["find > d", "d > convert: true", "d > leave: false"]))).toEqual([]);
});

it("the check of overwritten keys reports nothing if the definition has errors", () => {
  expect(codesOf(row(find, convert, action("a", { timeout: 0 })))).toEqual(["NOVA406 $.nodes[3].timeout"]);
});

it("an overwritten key causes a finding even if the node that set it first may fail", () => {
  expect(codesOf(row({ ...find, onError: "convert" }, convert))).toEqual([warning]);
});

const setting = (id: string, key = "total") => action(id, { code: `context["${key}"] = 1` });

/** Returns a workflow that forks into two branches with these nodes. */
function forked(left: Loose[], right: Loose[], fork: Loose = start): Loose {
  const row = (nodes: Loose[]) =>
    [fork, ...nodes, end].slice(1).map((node, index) => `${[fork, ...nodes][index]?.id} > ${node?.id}`);
  return graph([fork, ...left, ...right, end], [...row(left), ...row(right)]);
}

const branchWarning = ["NOVA225 $.nodes[0]"];

it.each<[string, Loose, string[]]>([
  ["that both branches set causes a finding", forked([setting("a")], [setting("b")]), branchWarning],
  [
    "that both branches set in later nodes causes a finding",
    forked([action("x"), setting("a")], [setting("b"), action("y")]),
    branchWarning,
  ],
  [
    "that one branch always sets and the other branch sets in some runs causes a finding",
    forked([action("a", { code: 'if x:\n    context["total"] = 1' })], [setting("b")]),
    branchWarning,
  ],
  [
    "under which two maps store their results causes a finding",
    forked([each("m", [action("a")])], [each("n", [action("b")])]),
    branchWarning,
  ],
  [
    "that only one branch sets, twice, causes no finding",
    forked([setting("a"), action("x", { code: "print(context)" }), setting("c")], [action("b")]),
    [],
  ],
  [
    "that one branch sets causes no finding if the other branch sets a different key",
    forked([setting("a")], [setting("b", "net")]),
    [],
  ],
  [
    "that both branches set causes no finding if the fork has a merge",
    forked([setting("a")], [setting("b")], { ...start, merge: "last" }),
    [],
  ],
  [
    "that the second branch sets and then deletes causes no finding",
    forked([setting("a")], [setting("b"), action("c", { code: 'print(context["total"])\ndel context["total"]' })]),
    [],
  ],
  [
    "that the first branch sets and then deletes causes no finding",
    forked([setting("a"), action("c", { code: 'context.pop("total")' })], [setting("b")]),
    [],
  ],
  [
    "that a node of one branch and the items of a map in the other branch set causes no finding",
    forked([each("m", [setting("a")])], [setting("b")]),
    [],
  ],
])("a key of the context %s", (_, definition, expected) => {
  expect(codesOf(definition)).toEqual(expected);
});

it("the finding about a key that two branches set names the branches and the fork", () => {
  expect(findingsOf(forked([action("x"), setting("a")], [setting("b")]))[0]?.message).toMatch(
    /^branches of "start" \("x", "b"\) each set context\["total"\], and the join fails if the values differ - /,
  );
});

it("a key that two branches set causes one finding, even for an approval, and two findings in nested forks", () => {
  const ask = approval("ask", { into: "total" });
  const nodes = [start, setting("a"), ask, end];
  const arrows = ["start > a", "start > ask", "a > end", 'ask > end: "default"'];
  expect(codesOf(graph(nodes, arrows))).toEqual(branchWarning);
  const inner = [start, action("f"), setting("a"), setting("b"), setting("c"), action("j"), end];
  const ways = ["start > f", "start > c", "f > a", "f > b", "a > j", "b > j", "j > end", "c > end"];
  expect(codesOf(graph(inner, ways))).toEqual(["NOVA225 $.nodes[1]", "NOVA225 $.nodes[0]"]);
});

it("a key that both sides of a decision set causes no finding, because a run takes only one of the sides", () => {
  const nodes = [start, decision("d"), setting("a"), setting("b"), end];
  expect(codesOf(graph(nodes, ["start > d", "d > a: true", "d > b: false", "a > end", "b > end"]))).toEqual([]);
});
