import type { Budgets } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { PromptStory } from "../../../support/engine/prompt-story.ts";
import { scriptedMinds } from "../../../support/engine/scripted-minds.ts";
import { fails, succeeds } from "../../../support/engine/story.ts";

const one = flow("one", [prompted(action("a"))], lines("start > a > end"));

/** Beside each note how many steps were recorded by then. */
function noted() {
  const notes: { usd: number; client: string; seq: number; steps: number }[] = [];
  const story = new PromptStory(one, scriptedMinds({ codes: ["# bad", "# good"] }), {
    a: [fails("KeyError: 'x'"), succeeds("a", "1")],
  });
  const budgets: Budgets = {
    ofMonth: async () => null,
    async note(client, at, usd) {
      const steps = await story.world.ports({ call: async ({ effect }) => effect() }).chain.steps(at);
      notes.push({ usd, client, seq: at.seq, steps: steps.length });
    },
  };
  story.world.budgets = budgets;
  return { story, notes };
}

it("tells before each paid step what the node has cost by then, for its client", async () => {
  const { story, notes } = noted();
  await story.start();
  await story.finish(story.deliver("a", 0));
  expect(new Set(notes.map(({ client, seq }) => `${client} ${seq}`))).toEqual(new Set(["default 1"]));
  expect(notes.map(({ usd }) => usd.toFixed(3))).toEqual(story.paid.map((_, n) => ((n + 1) / 1000).toFixed(3)));
  const places = story.paid.map((paid) => Number.parseInt(paid, 10));
  expect(notes.map(({ steps }) => steps + 1)).toEqual(places);
});
