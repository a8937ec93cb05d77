import { toMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { countEvents, stretchEvents } from "../../../packages/compiler/src/events/count-events.ts";
import { historyLimit } from "../../../packages/compiler/src/events/counted-edges.ts";
import { inlineItems } from "../../../packages/compiler/src/events/inline-items.ts";
import { lower } from "../../../packages/compiler/src/lower/lower.ts";
import { action, body, decision, end, map, start, workflow } from "../support/workflows.ts";

const each = map("m", body([action("item")], []));
const loop = (max: number, ...nodes: Parameters<typeof workflow>[0]) => {
  const ids = nodes.map(({ id }) => id);
  const path = ["start", ...ids, "d"];
  return workflow(
    [start(), ...nodes, decision("d"), end()],
    [
      ...path.slice(1).map((to, index) => `${path[index]} -> ${to}`),
      ...[`d -> ${ids[0]} : "again", max ${max}`, 'd -> end : "default"'],
    ],
  );
};

describe("the events between two further executions", () => {
  it("do not grow with the rounds of a loop", () => {
    const [few, many] = [10, 1000].map((max) => stretchEvents(lower(loop(max, action("a"))), () => 0));
    expect(few).toBe(many);
    expect(few).toBeLessThan(60);
    expect(countEvents(lower(loop(1000, action("a"))), () => 0)).toBeGreaterThan(10_000);
  });

  it("include every round of a loop in a branch", () => {
    const inner = (max: number) =>
      workflow(
        [start(), action("f"), action("a"), decision("x"), action("b"), decision("d"), end()],
        [
          ...["start -> f", "f -> a", "f -> b", "a -> x", `x -> a : "again", max ${max}`, 'x -> d : "default"'],
          ...["b -> d", 'd -> f : "again", max 1000', 'd -> end : "default"'],
        ],
      );
    const [few, many] = [10, 20].map((max) => stretchEvents(lower(inner(max)), () => 0));
    expect((many ?? 0) - (few ?? 0)).toBe(10 * (5 + 7));
  });
});

describe("a loop that continues in further executions", () => {
  const plan = lower(loop(1000, each, action("a"), action("b"), action("c"), action("e")));

  it("has a history for each round, so its map runs its items inline", () => {
    const most = inlineItems(plan, "m");
    expect(most).toBeGreaterThan(300);
    expect(stretchEvents(plan, () => most)).toBeLessThan(historyLimit / 2);
  });

  it("leaves enough for one more round, and a fifth of the rest for uncounted events", () => {
    const most = inlineItems(plan, "m");
    const { history } = toMachine(loop(1000, each, action("a"), action("b"), action("c"), action("e")));
    expect(history?.most).toBe(Math.floor((historyLimit - stretchEvents(plan, () => most)) * 0.8));
    expect(history?.entries["m.join"]).toEqual({ own: 15, each: 6, inlineItems: most });
  });

  it("always continues in a further execution if one round fills a history", () => {
    const days = ["a", "b", "c", "e"].map((id) => action(id, { timeoutSeconds: 86_400, effects: false }));
    expect(toMachine(loop(1000, ...days)).history?.most).toBe(0);
  });
});

it("is assumed for a number of loops that is too large to count", () => {
  const row = (loops: number) => {
    const ids = Array.from({ length: loops }, (_, i) => `d${i}`);
    const edges = ids.flatMap((id, i) => [
      `${id} -> ${id} : "again", max 1`,
      `${id} -> ${ids[i + 1] ?? "end"} : "default"`,
    ]);
    return workflow([start(), ...ids.map((id) => decision(id)), end()], ["start -> d0", ...edges]);
  };
  expect(toMachine(row(100)).history).toBeUndefined();
  expect(toMachine(row(400)).history).toMatchObject({ most: expect.any(Number) });
});
