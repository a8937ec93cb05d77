import { expect, it } from "vitest";
import { action, approval, codesOf, end, graph, parse, start } from "../definition.ts";

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
])("an approval with the edges %j has %j", (conditions, expected) => {
  expect(codesOf(graphOf(...conditions))).toEqual(expected);
});

it("a finding suggests the choice that a misspelt one meant", () => {
  expect(parse(graphOf('"aproved"', '"rejected"', '"default"')).findings[0]?.message).toBe(
    'the edge from "ask" to "a" waits for "aproved", which is no choice of "ask" - did you mean "approved"?',
  );
});

it("a decision without a default has no finding if a model chooses one of its edges", () => {
  const decision = (executor: string, source: object) =>
    graph(
      [start, { id: "pick", type: "decision", executor, ...source }, action("a"), action("b"), end],
      ["start > pick", 'pick > a: "low"', 'pick > b: "high"', "a > end", "b > end"],
    );
  expect(codesOf(decision("text", { prompt: "How urgent is it?" }))).toEqual([]);
  expect(codesOf(decision("prompt", { prompt: "How urgent is it?" }))).toEqual(["NOVA302 $.nodes[1]"]);
});
