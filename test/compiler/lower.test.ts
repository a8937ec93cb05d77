import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { action, decision, end, start, workflow } from "./support/workflows.ts";

describe("the function `lower`, which resolves the edges of a workflow,", () => {
  it.each([
    ["no start node", [end()], [], 'workflow "sample" has no start node'],
    ["an action without an edge", [start(), action("a"), end()], ["start -> a"], 'node "a" has no edge'],
    [
      "an action whose two branches never meet",
      [start(), action("a"), end("x"), end("y")],
      ["start -> a", "a -> x", "a -> y"],
      'node "a" fans out to branches that never meet',
    ],
    [
      "an end node in a branch",
      [start(), action("a"), end("x"), decision("d"), end()],
      ["start -> a", "start -> d", "a -> end", 'd -> end : "default"', "d -> x : true"],
      'node "start" fans out to branches that never meet',
    ],
    ["a decision without edges", [start(), decision("d"), end()], ["start -> d"], 'node "d" decides and has no edges'],
  ])("throws for a workflow that the parser would refuse: %s", (_, nodes, edges, message) => {
    const compile = () => toStateMachine(workflow(nodes, edges));
    expect(compile).toThrow(RangeError);
    expect(compile).toThrow(message);
  });
});
