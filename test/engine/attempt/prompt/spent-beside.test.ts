import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { spentBesideUsd } from "../../../../packages/engine/src/attempt/prompt/means.ts";
import { action, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { PromptStory } from "../../../support/engine/prompt-story.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { scriptedMinds } from "../../../support/engine/scripted-minds.ts";

// A node costs 0.003: three agents ask.
const forked = flow(
  "forked",
  [prompted(action("f")), prompted(action("a")), prompted(action("b")), prompted(action("c")), action("j")],
  lines("start > f > a > j > end", "f > b > j", "f > c > j"),
);
const nested = flow(
  "nested",
  [
    action("f"),
    action("a"),
    prompted(action("c")),
    prompted(action("d")),
    action("e"),
    prompted(action("b")),
    action("j"),
  ],
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

describe("what is spent beside a place", () => {
  it("is zero on the main line, and zero before any branch has started", async () => {
    const story = await began(forked);
    expect(await beside(story, "")).toBe(0);
    expect(await beside(story, "/f@1.a")).toBe(0);
  });

  it("is what the other branches have recorded, of the node under way too", async () => {
    const story = await began(forked);
    await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }));
    const underWay = story.deliver("c", 0, { scope: "/f@1.c" });
    await story.until(underWay, "ask output_validator");
    expect(await beside(story, "/f@1.a")).toBeCloseTo(0.003 + 0.002, 9);
    expect(await beside(story, "/f@1.b")).toBeCloseTo(0.002, 9);
  });

  it("counts branches inside branches, seen from inside and from outside", async () => {
    const story = await began(nested);
    await story.finish(story.deliver("a", 0, { scope: "/f@1.a" }));
    await story.finish(story.deliver("c", 0, { scope: "/f@1.a/a@1.c" }));
    await story.finish(story.deliver("b", 0, { scope: "/f@1.b" }));
    expect(await beside(story, "/f@1.a/a@1.d")).toBeCloseTo(0.006, 9);
    expect(await beside(story, "/f@1.b")).toBeCloseTo(0.003, 9);
  });
});
