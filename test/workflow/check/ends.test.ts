import { describe, expect, it } from "vitest";
import { action, approval, codesOf, decision, each, end, graph, type Loose, parse, row, start } from "../definition.ts";

const done = { id: "done", type: "end" };
const one = action("one");
const two = action("two");

/** Returns a workflow in which a map of these nodes is between an action and the end. */
function mapOf(nodes: unknown[], arrows: string[] = []): Loose {
  return row(action("first"), each("m", nodes, arrows));
}

it.each<[string, Loose, string[]]>([
  ["one node", mapOf([one]), []],
  ["a row of nodes that ends without an end node", mapOf([one, two], ["one > two"]), []],
  ["an end node after a choice", mapOf([decision("d"), one, done], ["d > one: true", "d > done: false"]), []],
  ["an onError that leads to an end node", mapOf([action("one", { onError: "done" }), done]), []],
  ["a map of maps", mapOf([each("inner", [one])]), []],
  ["no nodes", mapOf([]), ["NOVA230 $.nodes[2]"]],
  ["an end node alone", mapOf([done]), ["NOVA230 $.nodes[2]"]],
  ["two nodes without an incoming edge", mapOf([one, two]), ["NOVA231 $.nodes[2].nodes[1]"]],
  ["an end node without an incoming edge", mapOf([one, done]), ["NOVA231 $.nodes[2].nodes[1]"]],
  [
    "a start node",
    mapOf([start, one], ["start > one"]),
    ["NOVA111 $.nodes[2].nodes[0].id", "NOVA232 $.nodes[2].nodes[0].type"],
  ],
  ["a cycle", mapOf([one, two], ["one > two", "two > one"]), ["NOVA211 $.nodes[2].nodes[0]"]],
  ["an edge that leads out of the body", mapOf([one], ["one > end"]), ["NOVA233 $.nodes[2].edges[0].to"]],
  ["an edge into the body", mapOf([one], ["first > one"]), ["NOVA233 $.nodes[2].edges[0].from"]],
  ["a misspelt id", mapOf([one, action("second")], ["one > secnod"]), ["NOVA206 $.nodes[2].edges[0].to"]],
  [
    "an edge that leads from an end node to another node",
    mapOf([one, done, two], ["one > done", "done > two"]),
    ["NOVA205 $.nodes[2].edges[1].from"],
  ],
  ["an id that a node outside the map also has", mapOf([action("first")]), ["NOVA111 $.nodes[2].nodes[0].id"]],
  [
    "an id that differs only in case from one outside the map",
    mapOf([action("First")]),
    ["NOVA112 $.nodes[2].nodes[0].id"],
  ],
  ["a choice without edges", mapOf([decision("d")]), ["NOVA301 $.nodes[2].nodes[0]"]],
  [
    "an edge condition after an action",
    mapOf([one, two], ["one > two: true"]),
    ["NOVA303 $.nodes[2].edges[0].condition"],
  ],
  ["a node that is not an object", mapOf([one, 3]), ["NOVA104 $.nodes[2].nodes[1]"]],
  [
    "a code file that does not exist",
    mapOf([action("one", { code: undefined, codeFile: "x.py" })]),
    ["NOVA404 $.nodes[2].nodes[0].codeFile"],
  ],
])("the body of a map with %s gets exactly the expected findings", (_, definition, expected) => {
  expect(codesOf(definition)).toEqual(expected);
});

it("an edge or an onError that leads into the body of a map causes a finding", () => {
  const nodes = [start, action("first", { onError: "one" }), each("m", [one]), end];
  const definition = graph(nodes, ["start > first", "first > m", "m > end", "first > one"]);
  expect(codesOf(definition)).toEqual(["NOVA233 $.edges[3].to", "NOVA233 $.nodes[1].onError"]);
  expect(parse(definition).findings[0]?.message).toBe(
    'the edge from "first" to "one" is in the workflow, but "one" is in the body of "m" - an item begins and ends inside of its map, and the edges of the map continue the run',
  );
});

it("an edge across the border of a map's body is reported as such an edge, not as one with a misspelt id", () => {
  const nodes = [start, each("m", [action("step_a")]), action("step_b"), end];
  expect(codesOf(graph(nodes, ["start > m", "m > step_a", "step_b > end"]))).toEqual([
    "NOVA233 $.edges[1].to",
    "NOVA209 $.nodes[2]",
  ]);
});

describe("the nodes in the body of a map", () => {
  const inner = each("inner", [action("two", { code: undefined, codeFile: "two.py" })]);
  const definition = mapOf([one, inner], ["one > inner"]);

  it("are parsed with their code and their paths in the definition, like nodes outside a map", () => {
    const { workflow, python } = parse(definition, { "two.py": "b = 2" });
    expect(workflow?.nodes[2]).toMatchObject({
      body: { nodes: [{ id: "one" }, { body: { nodes: [{ id: "two" }] } }] },
    });
    expect(python.map(({ node, path }) => `${node?.id} ${path}`)).toEqual([
      "first $.nodes[1].code",
      "one $.nodes[2].nodes[0].code",
      "two $.nodes[2].nodes[1].nodes[0].codeFile",
    ]);
  });

  it("cause findings that name their line in the definition", () => {
    const text = JSON.stringify(mapOf([action("one", { timeout: 0 })]), null, 1);
    const [found] = parse(JSON.parse(text)).findings;
    expect(found).toMatchObject({ code: "NOVA406", path: "$.nodes[2].nodes[0].timeout", line: 1 });
  });
});

const graphOf = (...conditions: string[]) =>
  graph(
    [start, approval("ask"), action("a"), end],
    ["start > ask", ...conditions.map((one) => (one === "" ? "ask > a" : `ask > a: ${one}`)), "a > end"],
  );

it.each<[string[], string[]]>([
  [['"approved"', '"rejected"'], []],
  [['"approved"', '"default"'], []],
  [['"default"'], []],
  [['"approved"', '"rejected"', '"timeout"'], []],
  [['"approved"'], ["NOVA411 $.nodes[1]"]],
  [['"approved"', '"timeout"'], ["NOVA411 $.nodes[1]"]],
  [['"approved"', '"rejected"', '"maybe"'], ["NOVA412 $.edges[3].condition"]],
  [['"approved"', '"default"', "true"], ["NOVA412 $.edges[3].condition"]],
  [['"approved"', '"rejected"', '"approved"'], ["NOVA207 $.edges[3]"]],
  [["", '"default"'], ["NOVA301 $.edges[1]"]],
  [[], ["NOVA301 $.nodes[1]", "NOVA411 $.nodes[1]", "NOVA209 $.nodes[2]"]],
])("an approval whose edges have the conditions %j gets the findings %j", (conditions, expected) => {
  expect(codesOf(graphOf(...conditions))).toEqual(expected);
});

it("the finding about a misspelt choice suggests the intended choice", () => {
  expect(parse(graphOf('"aproved"', '"rejected"', '"default"')).findings[0]?.message).toBe(
    'the edge from "ask" to "a" waits for "aproved", which is no choice of "ask" - did you mean "approved"?',
  );
});

it("a decision that is a text node needs no default edge, because its model can only name one of its edges", () => {
  const decision = (executor: string, source: object) =>
    graph(
      [start, { id: "pick", type: "decision", executor, ...source }, action("a"), action("b"), end],
      ["start > pick", 'pick > a: "low"', 'pick > b: "high"', "a > end", "b > end"],
    );
  expect(codesOf(decision("text", { prompt: "How urgent is it?" }))).toEqual([]);
  expect(codesOf(decision("prompt", { prompt: "How urgent is it?" }))).toEqual(["NOVA302 $.nodes[1]"]);
});
