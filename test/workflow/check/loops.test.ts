import { forksOf, nodesBefore } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  action,
  approval,
  codesOf,
  decision,
  each,
  end,
  graph,
  type Loose,
  mustParse,
  parse,
  row,
  start,
} from "../definition.ts";

const named: Record<string, Loose> = { start, end, d: decision("d"), e: decision("e"), ask: approval("ask") };

/** Returns a workflow with these edges. d and e are decisions, ask is an approval, and all other nodes are actions. */
function shape(...arrows: string[]): Loose {
  const ids = new Set(arrows.flatMap((arrow) => arrow.replace(/[:,].*/, "").split(" > ")));
  return graph(
    [...ids].map((id) => named[id] ?? action(id)),
    arrows,
  );
}

const once = ["start > a", "a > d", "d > a: true, max 3", "d > end: false"];

describe("a loop in the graph of a workflow", () => {
  it.each<[string, string[]]>([
    ["leads from a decision to an earlier node", once],
    ["leads from a decision to this decision itself", ["start > d", "d > d: true, max 1000", "d > end: false"]],
    [
      "leads from an approval to an earlier node",
      ["start > a", "a > ask", 'ask > a: "rejected", max 2', 'ask > end: "default"'],
    ],
    [
      "is inside another loop",
      ["start > a", "a > d", "d > a: true, max 3", "d > e: false", "e > a: true, max 2", "e > end: false"],
    ],
    [
      "overlaps another loop",
      ["start > a", "a > b", "b > d", "d > a: true, max 3", "d > e: false", "e > b: 1, max 2", 'e > end: "default"'],
    ],
    ["contains a fork", ["start > f", "f > a", "f > b", "a > d", "b > d", "d > f: true, max 3", "d > end: false"]],
    [
      "leads back through a node that only the loop has",
      ["start > ask", 'ask > day: "timeout", max 3', "day > ask", 'ask > end: "default"'],
    ],
    [
      "leads back through nodes that only this loop has and that contain another loop",
      [
        ...[
          "start > d",
          "d > a: true, max 3",
          "d > end: false",
          "a > e",
          "e > b: 1, max 2",
          "b > e",
          'e > d: "default"',
        ],
      ],
    ],
    [
      "is inside one branch of a fork",
      ["start > a", "start > b", "a > d", "d > a: true, max 3", "d > c: false", "b > c", "c > end"],
    ],
  ])("is accepted if it %s", (_, arrows) => {
    expect(codesOf(shape(...arrows))).toEqual([]);
  });

  it("is accepted if it is in the body of a map and leads to the first node of this body", () => {
    const body = each(
      "m",
      [action("a"), decision("d"), { id: "done", type: "end" }],
      [...["a > d", "d > a: true, max 3", "d > done: false"]],
    );
    expect(codesOf(row(body))).toEqual([]);
    expect(forksOf(mustParse(row(body))).get("m")?.branches).toEqual([{ entry: "a", nodes: ["a", "d"] }]);
  });

  it("may lead to every node of a map's body, which then starts at the node that reaches all others", () => {
    const arrows = ["d > d: true, max 2", "d > b: false", "b > e", "e > a: true, max 1", "e > done: false", "a > e"];
    const body = each(
      "m",
      [action("a"), action("b"), decision("d"), decision("e"), { id: "done", type: "end" }],
      arrows,
    );
    expect(codesOf(row(body))).toEqual([]);
    expect(forksOf(mustParse(row(body))).get("m")?.branches).toEqual([{ entry: "d", nodes: ["d", "b", "e", "a"] }]);
  });

  it("may lead back through nodes of its own, if these are in the same branch or map body as its decision", () => {
    const branch = shape(
      "start > f",
      "f > d",
      "f > b",
      "d > a: true, max 3",
      "a > d",
      "d > c: false",
      "b > c",
      "c > end",
    );
    expect(forksOf(mustParse(branch)).get("f")?.branches).toEqual([
      { entry: "d", nodes: ["d", "a"] },
      { entry: "b", nodes: ["b"] },
    ]);
    const arrows = ["b > d", "d > a: true, max 3", "a > d", "d > done: false"];
    const body = each("m", [action("a"), action("b"), decision("d"), { id: "done", type: "end" }], arrows);
    expect(forksOf(mustParse(row(body))).get("m")?.branches).toEqual([{ entry: "b", nodes: ["b", "d", "a"] }]);
  });

  it.each<[string, string[], string]>([
    [
      "forgotten",
      ["start > ask", 'ask > day: "timeout"', "day > ask", 'ask > end: "default"'],
      'the edges form a cycle: "ask" -> "day" -> "ask" - limit the rounds: add "max": 5, or another number, to the edge from "ask" to "day"',
    ],
    [
      "on an edge that no decision chooses",
      ["start > ask", 'ask > day: "timeout"', "day > ask, max 5", 'ask > end: "default"'],
      'the edge from "day" to "ask" has a max, but "day" is of type action and decides nothing - move it to the edge from "ask" to "day", which is taken by choice',
    ],
    [
      "on both edges of a loop",
      ["start > ask", 'ask > day: "timeout", max 5', "day > ask, max 5", 'ask > end: "default"'],
      'the edge from "day" to "ask" has a max, but "day" is of type action and decides nothing - remove it, because the edge from "ask" to "day" counts the rounds',
    ],
    [
      "on the edges of two decisions of a loop",
      ["start > a", "a > d", "d > e: true, max 3", "d > end: false", "e > a: true, max 3", "e > end: false"],
      'the edge from "d" to "e" has a max, and on the way back the edge from "e" to "a" has one, too; one edge counts the rounds - remove one of the two',
    ],
    [
      "on an edge from which no path leads back",
      ["start > d", "d > a: true, max 3", "d > end: false", "a > end"],
      'the edge from "d" to "a" has a max, which says how often a loop may go round, but no way leads from "a" back to "d" - lead "a", or a node after it, to "d" or to a node before that (without a max), or remove max',
    ],
  ])("causes a finding that names the right edge for its `max` if the `max` is %s", (_where, arrows, message) => {
    expect(parse(shape(...arrows)).findings.map((found) => found.message)).toContain(message);
  });

  it.each<[string, string[], string[]]>([
    ["starts at an action", ["start > a", "a > b", "b > a, max 3", "b > end"], ["NOVA240 $.edges[2].max"]],
    [
      "has a max on two edges",
      ["start > ask", 'ask > day: "timeout", max 5', "day > ask, max 5", 'ask > end: "default"'],
      ["NOVA240 $.edges[2].max"],
    ],
    ["leads forward", ["start > d", "d > a: true, max 3", "d > end: false", "a > end"], ["NOVA241 $.edges[1].max"]],
    [
      "leads to a node that is on the way back of a loop in another branch",
      [
        ...["start > f", "f > d", "f > e", "d > a: true, max 3", "e > a: true, max 3", "a > d", "d > c: false"],
        ...["e > c: false", "c > end"],
      ],
      ["NOVA241 $.edges[4].max"],
    ],
    [
      "is made of the default edge",
      ["start > a", "a > d", 'd > a: "default", max 3', "d > end: false"],
      ["NOVA243 $.edges[2].max"],
    ],
    [
      "is the only edge of its decision",
      ["start > a", "a > d", "d > a: true, max 3", "start > end"],
      ["NOVA244 $.nodes[2]"],
    ],
    [
      "starts at an approval without a default edge",
      ["start > a", "a > ask", 'ask > a: "rejected", max 2', 'ask > end: "approved"'],
      ["NOVA245 $.nodes[2]"],
    ],
    [
      "leads into a branch",
      ["start > f", "f > a", "f > b", "a > d", "b > d", "d > a: true, max 3", "d > end: false"],
      ["NOVA242 $.edges[5].to"],
    ],
    [
      "leads out of a branch",
      ["start > f", "f > d", "f > b", "d > f: true, max 3", "d > c: false", "b > c", "c > end"],
      ["NOVA242 $.edges[3].to"],
    ],
    [
      "leads from one branch into another",
      [
        "start > e",
        "e > f: true",
        "e > end: false",
        "f > d",
        "f > b",
        "d > e: true, max 3",
        "d > c: false",
        "b > c",
        "c > end",
      ],
      ["NOVA242 $.edges[5].to"],
    ],
  ])("is refused if it %s", (_, arrows, expected) => {
    expect(codesOf(shape(...arrows)).filter((code) => !code.startsWith("NOVA302"))).toEqual(expected);
  });

  it("keeps its `max` in the parsed workflow, and its edge does not make later nodes count as earlier nodes", () => {
    const workflow = mustParse(shape(...once));
    expect(workflow.edges[2]).toEqual({ from: "d", to: "a", condition: true, max: 3 });
    expect([...nodesBefore(workflow, "d")].sort()).toEqual(["a", "start"]);
    expect([...nodesBefore(workflow, "a")]).toEqual(["start"]);
  });
});
