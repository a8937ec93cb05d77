import { toMachine } from "@nova/compiler";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  countEvents,
  historyLimit,
  itemEvents,
  stretchEvents,
} from "../../../packages/compiler/src/events/count-events.ts";
import { inlineItems } from "../../../packages/compiler/src/events/history-budget.ts";
import { lower, type PlannedMap } from "../../../packages/compiler/src/lower.ts";
import { execute } from "../support/executed.ts";
import { type Fates, fates, maxItems } from "../support/fates.ts";
import { forwardGraphs, graphs } from "../support/graphs.ts";
import {
  action,
  body,
  childNode,
  decision,
  end,
  eventNode,
  map,
  start,
  untilNode,
  workflow,
} from "../support/workflows.ts";

const succeeds: Fates = () => ({ kind: "succeeds", pick: 3 });
const each = map("m", body([action("item")], []));
const line = (...nodes: Parameters<typeof workflow>[0]) => {
  const path = ["start", ...nodes.map(({ id }) => id), "end"];
  return workflow(
    [start(), ...nodes, end()],
    path.slice(1).map((to, index) => `${path[index]} -> ${to}`),
  );
};
const fan = workflow(
  [start(), action("f"), action("a"), action("b"), action("j"), end()],
  ["start -> f", "f -> a", "f -> b", "a -> j", "b -> j", "j -> end"],
);

describe("the history events that the compiler counts for a workflow", () => {
  it("are never fewer than the events of a real execution, for all possible decisions and failures", async () => {
    await fc.assert(
      fc.asyncProperty(forwardGraphs, fates, async ({ workflow: whole }, chosen) => {
        const calm: Fates = (scope, seq) => {
          const { kind, pick } = chosen(scope, seq);
          return { kind: ["fails", "expires", "late", "closed"].includes(kind) ? kind : "succeeds", pick };
        };
        const { events } = await execute(whole, calm);
        expect(countEvents(lower(whole), () => maxItems)).toBeGreaterThanOrEqual(events);
      }),
      { numRuns: 150 },
    );
  });

  it("include three events for each retry of a node: scheduled, started and failed", () => {
    const events = (extra: Parameters<typeof action>[1]) => countEvents(lower(line(action("a", extra))), () => 1);
    expect(events({ retry: { attempts: 5, delaySeconds: 1 } })).toBe(events({}) + 4 * 3);
    const look = 5 + 2 + 2;
    const looksFor = (attempts: number) =>
      events({ timeoutSeconds: 3600, retry: { attempts, delaySeconds: 1 } }) / look;
    expect(looksFor(3) - looksFor(2)).toBeCloseTo(looksFor(2) - looksFor(1));
    expect(looksFor(2)).toBeGreaterThan(looksFor(1) + 1);
  });

  it.each([
    ["an action", line(action("a"))],
    ["a wait", line(untilNode("w"))],
    ["a workflow node", line(childNode("c"))],
    ["a wait for an event", line(eventNode("e"))],
    ["a fork", fan],
    ["a map", line(each)],
  ])("are only slightly more than the events of an execution without failures: %s", async (_, whole) => {
    const { events } = await execute(whole, succeeds);
    const counted = countEvents(lower(whole), () => maxItems);
    // A failure adds the events of the settle task, and of the states that end a branch or an item.
    expect(counted - events).toBeGreaterThanOrEqual(0);
    expect(counted - events).toBeLessThanOrEqual(45);
  });
});

describe("the number of items that a map runs in its own execution", () => {
  const planned = (id: string, plan: ReturnType<typeof lower>) =>
    plan.main.nodes.find((node) => node.id === id) as PlannedMap;

  it("is as high as possible, but leaves a fifth of the free history unused", () => {
    const plan = lower(line(each));
    const most = inlineItems(plan, "m");
    const free = historyLimit - countEvents(plan, () => 0);
    expect(most * itemEvents(planned("m", plan), () => 0)).toBeLessThanOrEqual(free * 0.8);
    expect((most + 1) * itemEvents(planned("m", plan), () => 0)).toBeGreaterThan(free * 0.8);
    expect(most).toBeGreaterThan(1_000);
  });

  it("is lower if other maps or other nodes of the workflow need parts of the history", () => {
    const two = lower(line(each, { ...each, id: "n", body: body([action("other")], []) }));
    const nested = lower(line(map("outer", body([each], []))));
    expect(inlineItems(two, "m")).toBe(inlineItems(two, "n"));
    expect(inlineItems(two, "m") / inlineItems(lower(line(each)), "m")).toBeCloseTo(0.5, 1);
    expect([inlineItems(nested, "outer"), inlineItems(nested, "m")]).toEqual([expect.any(Number), 40]);
    const used = inlineItems(nested, "outer") * itemEvents(planned("outer", nested), () => 40);
    expect(used).toBeLessThanOrEqual(historyLimit * 0.8);
  });

  it("is lower if the map is in a loop", () => {
    const looped = (max: number) =>
      lower(
        workflow(
          [start(), each, decision("d"), end()],
          ["start -> m", "m -> d", "d -> end : true", `d -> m : "again", max ${max}`],
        ),
      );
    const [one, three] = [inlineItems(looped(1), "m"), inlineItems(looped(3), "m")];
    expect(one / three).toBeCloseTo(2, 1);
    expect(countEvents(looped(3), () => three)).toBeLessThanOrEqual(historyLimit);
  });

  it("fits into the history, even if the loop of a later decision repeats the loop that contains the map", () => {
    const whole = workflow(
      [start(), each, decision("d"), decision("e"), end()],
      [
        "start -> m",
        "m -> d",
        'd -> m : "again", max 2',
        "d -> e : true",
        'e -> d : "again", max 2',
        "e -> end : true",
      ],
    );
    const plan = lower(whole);
    expect(countEvents(plan, () => inlineItems(plan, "m"))).toBeLessThanOrEqual(historyLimit);
  });

  it("fits into the history in any random workflow", () => {
    fc.assert(
      fc.property(graphs, ({ workflow: whole }) => {
        const plan = lower(whole);
        if (countEvents(plan, () => 0) > historyLimit) return;
        expect(countEvents(plan, ({ id }) => inlineItems(plan, id))).toBeLessThanOrEqual(historyLimit);
      }),
    );
  });

  it("cannot be computed for a map that the workflow does not have, so that inlineItems throws an error", () => {
    expect(() => inlineItems(lower(line(action("a"))), "m")).toThrow('no map "m"');
  });
});

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

describe("the history events that the compiler counts until a run continues in another execution", () => {
  it("do not depend on the number of rounds of a loop outside branches and maps", () => {
    const [few, many] = [10, 1000].map((max) => stretchEvents(lower(loop(max, action("a"))), () => 0));
    expect(few).toBe(many);
    expect(few).toBeLessThan(60);
    expect(countEvents(lower(loop(1000, action("a"))), () => 0)).toBeGreaterThan(10_000);
  });

  it("include the most calls that one answer of an agent's model may start", () => {
    const tool = { name: "t", entry: "t" };
    const agent = (maxSteps: number) => ({
      ...action("g"),
      type: "agent" as const,
      maxConcurrency: 5,
      executor: { kind: "text" as const, prompt: "Go.", into: "g", maxSteps, tools: [tool] },
      body: body([action("t")], []),
    });
    const stretch = (maxSteps: number) => stretchEvents(lower(line(agent(maxSteps) as never)), () => 1);
    const [one, two] = [stretch(1), stretch(2)];
    expect(stretch(50) - one).toBe(49 * (two - one));
    expect(stretch(1000)).toBe(stretch(100));
  });

  it("include the events of every round of a loop in a branch", () => {
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

  it("gives each execution a whole history, so that a map in it runs many items in its own execution", () => {
    const most = inlineItems(plan, "m");
    expect(most).toBeGreaterThan(300);
    expect(stretchEvents(plan, () => most)).toBeLessThan(historyLimit / 2);
  });

  it("leaves an execution while its history still has space for one more round and for some uncounted events", () => {
    const most = inlineItems(plan, "m");
    const { history } = toMachine(loop(1000, each, action("a"), action("b"), action("c"), action("e")));
    expect(history?.most).toBe(Math.floor((historyLimit - stretchEvents(plan, () => most)) * 0.8));
    expect(history?.entries["m.join"]).toEqual({ own: 15, each: 6, inlineItems: most });
  });

  it("starts a further execution for every round if one round fills a history", () => {
    const days = ["a", "b", "c", "e"].map((id) => action(id, { timeoutSeconds: 86_400, effects: false }));
    expect(toMachine(loop(1000, ...days)).history?.most).toBe(0);
  });
});

it("a workflow with too many loops to count their events is assumed to need further executions", () => {
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
