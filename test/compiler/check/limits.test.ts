import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { checkEvents, checkSize, definitionLimitBytes } from "../../../packages/compiler/src/check/limits.ts";
import { action, body, chainOf, decision, end, map, start, workflow } from "../support/workflows.ts";

const definitionOf = (nodes: number) => JSON.stringify(toStateMachine(chainOf(nodes)));

describe("the size of a state machine", () => {
  it("may be up to the limit of Step Functions, in bytes and not in characters", () => {
    expect(checkSize("x".repeat(definitionLimitBytes), 10)).toEqual([]);
    expect(checkSize(`${"x".repeat(definitionLimitBytes - 1)}€`, 10)).toHaveLength(1);
  });

  it("above the limit has a finding with the number of nodes that fit", () => {
    const [found] = checkSize(definitionOf(2000), 2000);
    expect(found).toMatchObject({ code: "NOVA701", severity: "error", path: "$.nodes" });
    const fitting = Number(/about (\d+) nodes/.exec(found?.message ?? "")?.[1]);
    expect(Buffer.byteLength(definitionOf(fitting - 5))).toBeLessThanOrEqual(definitionLimitBytes);
    expect(Buffer.byteLength(definitionOf(fitting + 20))).toBeGreaterThan(definitionLimitBytes);
  });
});

/** start, a, d (again to a, `max` times), e (again to a, `outer` times), end. */
function loops(max: number, outer: number) {
  return workflow(
    [start(), action("a"), decision("d"), decision("e"), end()],
    [
      ...["start -> a", "a -> d", `d -> a : "again", max ${max}`, 'd -> e : "default"'],
      ...[`e -> a : "again", max ${outer}`, 'e -> end : "default"'],
    ],
  );
}

it("has no warning for loops of the main line, which continue in a further execution", () => {
  expect(checkEvents(loops(40, 40))).toEqual([]);
  expect(checkEvents(loops(1000, 1000))).toEqual([]);
});

const row = ["a", "b", "c", "d"].map((id) => action(id));
const round = (decision: string, max: number) => [
  ...["a -> b", "b -> c", "c -> d", `d -> ${decision}`, `${decision} -> a : "again", max ${max}`],
];

const inMap = (max: number, outer = 1) => {
  const each = body([...row, decision("e"), end("done")], [...round("e", max), 'e -> done : "default"']);
  const again = [`x -> m : "again", max ${outer}`, 'x -> end : "default"'];
  return workflow([start(), map("m", each), decision("x"), end()], ["start -> m", "m -> x", ...again]);
};
const inBranch = (max: number) =>
  workflow(
    [start(), ...row, decision("e"), action("f"), end()],
    ["start -> a", "start -> f", ...round("e", max), 'e -> end : "default"', "f -> end"],
  );

it.each<[string, (max: number) => ReturnType<typeof workflow>]>([
  ["in a map, of whose items each goes round", inMap],
  ["in a map that the main line comes to again and again", (max) => inMap(max, 100)],
  ["in a branch", inBranch],
])("has a warning for a loop %s", (_, whole) => {
  expect(checkEvents(whole(300))).toEqual([]);
  const found = checkEvents(whole(1000));
  expect(found).toMatchObject([{ code: "NOVA702", severity: "warning", path: "$.edges" }]);
  expect(found[0]?.message).toMatch(
    /^a run may make up to 2\d,\d{3} events, .* the loop from "e" to "a", up to 1000 times, makes most of them - /,
  );
});

it("has a warning for a single round that is too long", () => {
  const ids = ["b", "c", "d", "e"];
  const days = ids.map((id) => action(id, { timeoutSeconds: 24 * 3600, effects: false }));
  const whole = workflow(
    [start(), ...days, decision("x"), end()],
    ["start -> b", "b -> c", "c -> d", "d -> e", "e -> x", 'x -> b : "again", max 3', 'x -> end : "default"'],
  );
  const [found] = checkEvents(whole);
  expect(found?.message).toMatch(/one round of the loop from "x" to "b" is too long - move part of it/);
});
