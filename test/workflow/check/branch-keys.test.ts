import { expect, it } from "vitest";
import { action, approval, codesOf, decision, each, end, graph, type Loose, parse, start } from "../definition.ts";

const sets = (id: string, key = "total") => action(id, { code: `context["${key}"] = 1` });

/** A fork of two branches, and what becomes of their keys. */
function forked(left: Loose[], right: Loose[], fork: Loose = start): Loose {
  const row = (nodes: Loose[]) =>
    [fork, ...nodes, end].slice(1).map((node, index) => `${[fork, ...nodes][index]?.id} > ${node?.id}`);
  return graph([fork, ...left, ...right, end], [...row(left), ...row(right)]);
}

const warning = ["NOVA225 $.nodes[0]"];

it.each<[string, Loose, string[]]>([
  ["both set", forked([sets("a")], [sets("b")]), warning],
  ["both set further down", forked([action("x"), sets("a")], [sets("b"), action("y")]), warning],
  ["both set in some runs", forked([action("a", { code: 'if x:\n    context["total"] = 1' })], [sets("b")]), warning],
  ["two maps set by default", forked([each("m", [action("a")])], [each("n", [action("b")])]), warning],
  ["one sets twice", forked([sets("a"), action("x", { code: "print(context)" }), sets("c")], [action("b")]), []],
  ["are two", forked([sets("a")], [sets("b", "net")]), []],
  ["the fork merges", forked([sets("a")], [sets("b")], { ...start, merge: "last" }), []],
  [
    "one branch takes away again",
    forked([sets("a")], [sets("b"), action("c", { code: 'print(context["total"])\ndel context["total"]' })]),
    [],
  ],
  [
    "the first branch takes away again",
    forked([sets("a"), action("c", { code: 'context.pop("total")' })], [sets("b")]),
    [],
  ],
  ["an item sets, and a branch", forked([each("m", [sets("a")])], [sets("b")]), []],
])("of a key that %s it says what the join will say", (_, definition, expected) => {
  expect(codesOf(definition)).toEqual(expected);
});

it("names the branches and the fork", () => {
  expect(parse(forked([action("x"), sets("a")], [sets("b")])).findings[0]?.message).toMatch(
    /^branches of "start" \("x", "b"\) set context\["total"\] each, and where the values differ the join fails - /,
  );
});

it("sees an answer that takes the key of another branch, and nested branches for both forks around them", () => {
  const ask = approval("ask", { into: "total" });
  const nodes = [start, sets("a"), ask, end];
  const arrows = ["start > a", "start > ask", "a > end", 'ask > end: "default"'];
  expect(codesOf(graph(nodes, arrows))).toEqual(warning);
  const inner = [start, action("f"), sets("a"), sets("b"), sets("c"), action("j"), end];
  const ways = ["start > f", "start > c", "f > a", "f > b", "a > j", "b > j", "j > end", "c > end"];
  expect(codesOf(graph(inner, ways))).toEqual(["NOVA225 $.nodes[1]", "NOVA225 $.nodes[0]"]);
});

it("does not take a choice for a fork", () => {
  const nodes = [start, decision("d"), sets("a"), sets("b"), end];
  expect(codesOf(graph(nodes, ["start > d", "d > a: true", "d > b: false", "a > end", "b > end"]))).toEqual([]);
});
