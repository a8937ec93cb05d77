import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { spentBesideUsd } from "../../../../packages/engine/src/attempt/prompt/means.ts";
import { action, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { PromptStory } from "../../../support/engine/prompt-story.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { scriptedMinds } from "../../../support/engine/scripted-minds.ts";
import { fails, succeeds } from "../../../support/engine/story.ts";

// Each node costs 0.003, because three agents ask a model.
const forked = flow(
  "forked",
  [prompted(action("f")), prompted(action("a")), prompted(action("b")), prompted(action("c")), action("j")],
  lines("start > f > a > j > end", "f > b > j", "f > c > j"),
);
const nested = flow(
  "nested",
  [...["f", "a", "e", "j"].map((id) => action(id)), ...["b", "c", "d"].map((id) => prompted(action(id)))],
  lines("start > f > a > c > e > j > end", "a > d > e", "f > b > j"),
);

async function began(workflow: Workflow) {
  const story = new PromptStory(workflow, scriptedMinds({ codes: ["# one"] }));
  await story.start();
  await story.finish(story.deliver("f", 0));
  return story;
}

function beside(story: PromptStory, scope: string): Promise<number> {
  return spentBesideUsd(story.world.ports(atOnce), { execution: story.id, scope });
}

describe("the cost of other branches, which counts towards a cost limit,", () => {
  it("is zero on the main line, and before any branch has started", async () => {
    const story = await began(forked);
    expect(await beside(story, "")).toBe(0);
    expect(await beside(story, "/f@1.a")).toBe(0);
  });

  it("includes all costs that these branches have recorded, also the costs of a node that still runs", async () => {
    const story = await began(forked);
    await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }));
    const underWay = story.deliver("c", 0, { scope: "/f@1.c" });
    await story.until(underWay, "ask output_validator");
    expect(await beside(story, "/f@1.a")).toBeCloseTo(0.003 + 0.002, 9);
    expect(await beside(story, "/f@1.b")).toBeCloseTo(0.002, 9);
  });

  it("includes nested branches, both for a node inside the nested fork and for a node outside it", async () => {
    const story = await began(nested);
    await story.finish(story.deliver("a", 0, { scope: "/f@1.a" }));
    await story.finish(story.deliver("c", 0, { scope: "/f@1.a/a@1.c" }));
    await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }));
    expect(await beside(story, "/f@1.a/a@1.d")).toBeCloseTo(0.006, 9);
    expect(await beside(story, "/f@1.b")).toBeCloseTo(0.003, 9);
  });
});

it("a node reports its cost to the cost budget of its client before each paid step", async () => {
  const notes: { usd: number; client: string; seq: number; steps: number }[] = [];
  const workflow = flow("one", [prompted(action("a"))], lines("start > a > end"));
  const scripts = { a: [fails("KeyError: 'x'"), succeeds("a", "1")] };
  const story = new PromptStory(workflow, scriptedMinds({ codes: ["# bad", "# good"] }), scripts);
  story.world.budgets = {
    ofMonth: async () => null,
    async note(client, at, usd) {
      const steps = await story.world.ports(atOnce).chain.steps(at);
      notes.push({ usd, client, seq: at.seq, steps: steps.length });
    },
  };
  await story.start();
  await story.finish(story.deliver("a", 0));
  expect(new Set(notes.map(({ client, seq }) => `${client} ${seq}`))).toEqual(new Set(["default 1"]));
  expect(notes.map(({ usd }) => usd.toFixed(3))).toEqual(story.paid.map((_, n) => ((n + 1) / 1000).toFixed(3)));
  const places = story.paid.map((paid) => Number.parseInt(paid, 10));
  expect(notes.map(({ steps }) => steps + 1)).toEqual(places);
});
