import { describe, expect, it } from "vitest";
import { action, flow, lines, texted } from "../../support/engine/flows.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import type { Process } from "../../support/engine/scheduler.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";
import { wellTold } from "../../support/engine/story.ts";

const one = flow("text", [texted(action("a"))], lines("start > a > end"));
const answered = { scope: "", seq: 1 };

async function begun(workflow = one) {
  const minds = { ...scriptedMinds({}), writeText: () => '"the answer"' };
  const story = new PromptStory(workflow, minds);
  await story.start();
  return { story, first: story.deliver("a", 0) };
}

/**
 * Repeats the run and interrupts its first delivery one call later each time. Returns the number of calls of the
 * delivery.
 */
async function atEveryPoint(tell: (story: PromptStory, first: Process) => Promise<void>): Promise<number> {
  for (let point = 0; ; point++) {
    const { story, first } = await begun();
    if (!(await story.calls(first, point))) return point;
    try {
      await tell(story, first);
      wellTold(story);
    } catch (error) {
      throw new Error(`after ${point} calls: ${story.world.scheduler.story.join("\n")}`, { cause: error });
    }
  }
}

/** Expects that the model answered once, with one step, and that no sandbox was used. */
async function isWhole(story: PromptStory): Promise<void> {
  expect(story.chain).toEqual(["start success", "a success"]);
  expect(story.head).toMatchObject({
    sandbox_id: null,
    code: null,
    nodes: 0,
    asked: expect.stringMatching(/^\w{64}$/),
  });
  expect(story.head.steps).toHaveLength(1);
  expect((await story.trace()).context.text).toBe('{"a":"the answer"}');
  expect(await story.verify()).toMatchObject({ state: "open", links: 2 });
}

describe("a text node", () => {
  it("is completed by its next delivery without paying again for a recorded answer, whichever call the Lambda makes when it dies", async () => {
    const points = await atEveryPoint(async (story, first) => {
      first.kill();
      expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
      await isWhole(story);
    });
    expect(points).toBeGreaterThan(4);
  });

  it("records one answer of its model, at whichever call of the first delivery a second delivery starts", async () => {
    await atEveryPoint(async (story, first) => {
      const second = story.deliver("a", 0);
      expect(await story.finish(second)).toMatchObject(answered);
      expect(await story.finish(first)).toMatchObject(answered);
      await isWhole(story);
    });
  });

  it("returns its existing entry to a late delivery without asking its model again", async () => {
    const { story, first } = await begun();
    await story.finish(first);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
    expect(story.paid).toEqual(["1 text"]);
    await isWhole(story);
  });

  it("gets an entry by a settle task if its delivery has died, and its chain stays valid", async () => {
    await atEveryPoint(async (story, first) => {
      first.kill();
      await story.finish(story.settle("a", 0));
      expect(["a success", "a failed"]).toContain(story.chain.at(-1));
      expect(await story.verify()).toMatchObject({ state: "open" });
    });
  });
});

it("a text node asks its model again in its next attempt, and records separate steps for each attempt", async () => {
  const retry = { attempts: 2, delaySeconds: 0 };
  const workflow = flow("retried", [texted(action("a", { retry }))], lines("start > a > end"));
  const answers = [null, '"yes"'];
  const story = new PromptStory(workflow, { ...scriptedMinds({}), writeText: () => answers.shift() ?? null });
  await story.start();
  expect(await story.finish(story.deliver("a", 0))).toBe("NodeRetry");
  expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
  expect(story.authors.questions.map(({ prompt, at }) => [prompt, at.seq])).toEqual([
    ["Say a.", 1],
    ["Say a.", 1],
  ]);
  expect(story.head).toMatchObject({ status: "success", attempt: 2 });
  const [, entry] = (await story.trace()).entries;
  expect(entry?.steps.map(({ agent_name, status }) => [agent_name, status])).toEqual([
    ["Node", "failed"],
    ["TextWriter", "success"],
  ]);
});
