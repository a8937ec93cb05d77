import { expect, it } from "vitest";
import { checkEvents } from "../../../packages/compiler/src/check/events.ts";
import { action, body, decision, end, map, start, workflow } from "../support/workflows.ts";

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

it("warns of loops that together go round too often, and names the one that does most of it", () => {
  expect(checkEvents(loops(40, 40))).toEqual([]);
  const [found, ...others] = checkEvents(loops(200, 20));
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: "NOVA702", severity: "warning", path: "$.edges" });
  // (200 + 1) x (20 + 1) visits of a and d: 12 events each, the failure of the last one settled or closed on top.
  expect(found?.message).toMatch(
    /^a run may make up to 50,\d{3} events, .* the loop from "d" to "a", up to 200 times, makes most of them - /,
  );
});

const row = ["a", "b", "c", "d"].map((id) => action(id));
const round = (decision: string, max: number) => [
  ...["a -> b", "b -> c", "c -> d", `d -> ${decision}`, `${decision} -> a : "again", max ${max}`],
];

it.each<[string, (max: number) => ReturnType<typeof workflow>]>([
  [
    "in a map, of whose items each goes round",
    (max) => {
      const each = body([...row, decision("e"), end("done")], [...round("e", max), 'e -> done : "default"']);
      return workflow([start(), map("m", each), end()], ["start -> m", "m -> end"]);
    },
  ],
  [
    "in a branch",
    (max) =>
      workflow(
        [start(), ...row, decision("e"), action("f"), end()],
        ["start -> a", "start -> f", ...round("e", max), 'e -> end : "default"', "f -> end"],
      ),
  ],
  [
    "round a branch",
    (max) =>
      workflow(
        [start(), action("x"), ...row, action("f"), decision("e"), end()],
        [
          ...["start -> x", "x -> a", "x -> f", "a -> b", "b -> c", "c -> d", "d -> e", "f -> e"],
          ...[`e -> x : "again", max ${max}`, 'e -> end : "default"'],
        ],
      ),
  ],
])("warns of a loop %s", (_, whole) => {
  expect(checkEvents(whole(300))).toEqual([]);
  expect(checkEvents(whole(1000))).toMatchObject([{ code: "NOVA702" }]);
});
