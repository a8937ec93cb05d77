import { createEndings, createInFlight } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow, lines, prompted } from "../../support/engine/flows.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";

const one = flow("one", [prompted(action("a"))], lines("start > a > end"));

it("knows a run as long as one of its deliveries is at work, however that ends", async () => {
  const inFlight = createInFlight();
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<never>()];
  const both = [inFlight.during("exec_1", () => first.promise), inFlight.during("exec_1", () => second.promise)];
  expect(inFlight.runs).toEqual(["exec_1"]);
  first.resolve(7);
  expect(await both[0]).toBe(7);
  expect(inFlight.runs).toEqual(["exec_1"]);
  second.reject(new RangeError("no sandbox"));
  await expect(both[1]).rejects.toThrow("no sandbox");
  expect(inFlight.runs).toEqual([]);
});

it("reports a node that waits for a model, also after its run is closed; a later answer is not stored", async () => {
  const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
  await story.start();
  const { inFlight } = story.world.ports({ call: async ({ effect }) => effect() });
  const node = story.deliver("a", 0);
  await story.until(node, "ask");
  expect(await story.finish(story.cancel())).toMatchObject({ status: "cancelled" });
  expect(inFlight.runs).toEqual([story.id]);
  await story.finish(node);
  expect(inFlight.runs).toEqual([]);
  expect(story.paid).toHaveLength(1);
  expect(story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).steps.size).toBe(0);
});

it("keeps nothing of a model that does not answer a run which was closed meanwhile", async () => {
  const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
  await story.start();
  const node = story.deliver("a", 0);
  await story.until(node, "ask");
  await story.finish(story.cancel());
  await story.perform(node, "before");
  await story.finish(node);
  expect(story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).steps.size).toBe(0);
});

it("wakes every waiter of an execution, and no other", async () => {
  const endings = createEndings();
  const woken: string[] = [];
  const waits = ["a", "a", "b"].map((id) => endings.wait(id, id === "a" ? 60_000 : 50).then(() => woken.push(id)));
  endings.tell("a");
  await Promise.all(waits);
  expect(woken).toEqual(["a", "a", "b"]);
});
