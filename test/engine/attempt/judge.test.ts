import { type Condition, conditionLabel } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { decide } from "../../../packages/engine/src/attempt/judge.ts";

const edgesFor = (conditions: Condition[]) =>
  conditions.map((condition) => ({ from: "d", to: `to ${String(condition)}`, condition }));
const taken = (json: string | undefined, conditions: Condition[]) => {
  const decision = decide(json, edgesFor(conditions));
  return "problem" in decision ? decision.problem : conditionLabel(decision.condition);
};

describe("decide", () => {
  it.each<[string, Condition[], string]>([
    ['"yes"', ["no", "yes"], "yes"],
    ["true", [true, false], "true"],
    ["false", [true, false], "false"],
    ["2", [1, 2], "2"],
    ["2.0", [1, 2], "2"],
    ["2.00000000000000000001", [2, "default"], "default"],
    // An edge of the same type as the decision is preferred.
    ['"true"', ["true", true], "true"],
    ["1", [true, 1], "1"],
    ['"1"', ["1", "default"], "1"],
    // A text can choose a boolean edge, and a boolean can choose a text edge.
    ['"true"', [true, false], "true"],
    ['"True"', [true, false], "true"],
    ['"FALSE"', [true, false], "false"],
    ["true", ["True", "False"], "True"],
    ["1", [true, false], "true"],
    ["0", [true, false], "false"],
    // If any edge is a number, 1 does not mean `true`.
    ["1", [true, 2, "default"], "default"],
    // All other decisions take the default edge.
    ['"maybe"', ["yes", "default"], "default"],
    ['"default"', ["yes", "default"], "default"],
    ["null", [true, "default"], "default"],
    ['{"a":1}', ["yes", "default"], "default"],
    ["2", [true, false, "default"], "default"],
    ['"yes "', ["yes", "default"], "default"],
  ])("chooses for the decision %s from the edges %j the edge %s", (json, conditions, label) => {
    expect(taken(json, conditions)).toBe(label);
  });

  it("returns the chosen edge object itself, not a copy of it", () => {
    const edges = edgesFor(["yes", "no"]);
    expect(decide('"no"', edges)).toBe(edges[1]);
  });

  it.each<[string | undefined, Condition[], RegExp]>([
    [undefined, ["yes", true], /did not set context\["branch_decision"\] - set it to one of "yes", true$/],
    [
      '"maybe"',
      ["yes", 2],
      /no edge for branch_decision "maybe" - it leads on for "yes", 2; add an edge with "default"/,
    ],
    [JSON.stringify("x".repeat(500)), ["yes"], /branch_decision "x{76}\.\.\. - /],
  ])(
    "throws an error that names the existing edges if no edge fits the decision %.10s",
    (json, conditions, problem) => {
      expect(taken(json, conditions)).toMatch(problem);
    },
  );
});
