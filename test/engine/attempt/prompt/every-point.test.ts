// @module-tag deep
import { describe, expect, it } from "vitest";
import { type Arrow, action, decision, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { PromptStory } from "../../../support/engine/prompt-story.ts";
import type { Process } from "../../../support/engine/scheduler.ts";
import { type MindScript, scriptedMinds } from "../../../support/engine/scripted-minds.ts";
import { fails, type Story, succeeds, wellTold } from "../../../support/engine/story.ts";

type Scripts = ConstructorParameters<typeof Story>[1];
type Effects = { effects?: boolean };

interface Told {
  minds: MindScript;
  scripts?: () => Scripts;
  steps: number;
  decides?: true;
}

const pinned = { code: "# pinned", generation: "g1" };
const behindAnalysis = { ...pinned, analysis: "# look again" };
const failsFor = (bad: string) => () => ({
  a: ({ code }: { code: string }) => (code.startsWith(bad) ? fails("no") : succeeds("a", `"${code}"`)),
});

/**
 * For each path through a pipeline of models: the answers of the models and the scripts of the code, by the path's
 * title.
 */
const tales: Record<string, Told> = {
  "code that works at the first try": { minds: { codes: ["# one"] }, steps: 5 },
  "code after an analysis": { minds: { analysis: "# look", codes: ["# one"] }, steps: 6 },
  "code that works at the third try": {
    minds: { codes: ["# bad", "# broken", "# good"], invalid: "# bad" },
    scripts: failsFor("# broken"),
    steps: 10,
  },
  "pinned code": { minds: { pinned }, steps: 0 },
  "new code after pinned code that fails": {
    minds: { pinned, codes: ["# one"] },
    scripts: failsFor("# pinned"),
    steps: 6,
  },
  "pinned code after its analysis": { minds: { pinned: behindAnalysis }, steps: 0 },
  "new code after pinned code that fails after its analysis": {
    minds: { pinned: behindAnalysis, codes: ["# one"] },
    scripts: failsFor("# pinned"),
    steps: 6,
  },
  "new code after a pinned analysis that fails": {
    minds: { pinned: behindAnalysis, analysis: "# new look", codes: ["# one"] },
    scripts: failsFor("# look again"),
    steps: 7,
  },
  "a decision": {
    minds: { codes: ["# one"] },
    scripts: () => ({ a: [succeeds("branch_decision", '"yes"')] }),
    steps: 5,
    decides: true,
  },
};
const names = Object.keys(tales);

async function begun(name: string, effects: Effects = {}): Promise<{ story: PromptStory; first: Process }> {
  const { minds, scripts, decides } = tales[name] as Told;
  const task = prompted(decides ? decision("a", effects) : action("a", effects));
  const on: Arrow = decides ? ["a", "end", "yes"] : ["a", "end"];
  const workflow = flow("tale", [task], [...lines("start > a"), on]);
  const story = new PromptStory(workflow, scriptedMinds(minds), scripts?.() ?? {});
  await story.start();
  return { story, first: story.deliver("a", 0) };
}

/**
 * Repeats a run and interrupts its first delivery one call later each time. Returns the number of calls of the
 * delivery.
 */
async function atEveryPoint(
  name: string,
  effects: Effects,
  tell: (story: PromptStory, first: Process) => Promise<void>,
): Promise<number> {
  for (let point = 0; ; point++) {
    const { story, first } = await begun(name, effects);
    if (!(await story.calls(first, point))) return point;
    try {
      await tell(story, first);
      wellTold(story);
    } catch (error) {
      throw new Error(`after ${point} calls: ${story.world.scheduler.story.join("\n")}`, { cause: error });
    }
  }
}

/** Expects that the chain is intact and has one entry of the node with all steps. */
async function isWhole(story: PromptStory, name: string): Promise<void> {
  expect(story.chain).toEqual(["start success", "a success"]);
  expect(story.head.steps).toHaveLength((tales[name] as Told).steps);
  expect(await story.verify()).toMatchObject({ state: "open", links: 2 });
}

const answered = { scope: "", seq: 1 };

describe.each(names)("a prompt node with %s", (name) => {
  it("is completed by its next delivery without a repeated step, whichever call the Lambda makes when it dies", async () => {
    const points = await atEveryPoint(name, {}, async (story, first) => {
      first.kill();
      expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
      await isWhole(story, name);
    });
    expect(points).toBeGreaterThan(8);
  });

  it("runs and pays for each step once, at whichever call of the first delivery a second delivery starts", async () => {
    await atEveryPoint(name, {}, async (story, first) => {
      const second = story.deliver("a", 0);
      expect(await story.finish(second)).toMatchObject(answered);
      expect(await story.finish(first)).toMatchObject(answered);
      await isWhole(story, name);
    });
  });

  it("returns its existing entry to a late delivery without asking a model again", async () => {
    const { story, first } = await begun(name);
    await story.finish(first);
    const paid = story.paid.length;
    expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
    expect(story.paid).toHaveLength(paid);
    await isWhole(story, name);
  });

  it("is continued by the next delivery when the time of a Lambda is over", async () => {
    for (let point = 0; ; point++) {
      const { story, first: other } = await begun(name);
      other.kill();
      const time = new AbortController();
      const first = story.deliver("a", 0, { time });
      if (!(await story.calls(first, point))) break;
      time.abort();
      const answer = await story.finish(first);
      if (answer !== "NodeUnfinished") expect(answer).toMatchObject(answered);
      expect(await story.finish(story.deliver("a", 0))).toMatchObject(answered);
      await isWhole(story, name);
      wellTold(story);
    }
  });

  it("ends with its recorded steps when the run is cancelled, and no code of the node continues to run", async () => {
    await atEveryPoint(name, {}, async (story, first) => {
      await story.finish(story.cancel());
      const late = await story.finish(first);
      if (story.chain.length === 2) expect(story.chain).toEqual(["start success", "(close) cancelled"]);
      else expect(story.chain).toEqual(["start success", expect.stringMatching(/^a /), "(close) cancelled"]);
      if (typeof late === "string") expect(late).toBe("ExecutionClosed");
      await story.judge();
    });
  });

  it("is settled when Step Functions gives up its task, and a delivery that still runs returns the settled entry", async () => {
    await atEveryPoint(name, {}, async (story, first) => {
      const settled = (await story.finish(story.settle("a", 0))) as { failed: boolean };
      const answer = await story.finish(first);
      expect(story.chain).toEqual(["start success", `a ${settled.failed ? "failed" : "success"}`]);
      if (settled.failed) expect(["NodeTimeout", "ExecutionClosed"]).toContain(answer);
      expect(await story.verify()).toMatchObject({ state: "open", links: 2 });
    });
  });

  it("fails as interrupted if its sandbox is lost while a result is missing, and is completed if all results are stored", async () => {
    await atEveryPoint(name, {}, async (story, first) => {
      for (const { id } of story.world.sandboxes.alive()) story.world.sandboxes.kill(id);
      const answer = await story.finish(first);
      if (typeof answer === "string") expect(answer).toBe("NodeInterrupted");
      else await isWhole(story, name);
      expect(await story.verify()).toMatchObject({ state: "open", links: 2 });
    });
  });

  it("continues in another sandbox if it declares `effects: false` and its sandbox is lost", async () => {
    await atEveryPoint(name, { effects: false }, async (story, first) => {
      for (const { id } of story.world.sandboxes.alive()) story.world.sandboxes.kill(id);
      expect(await story.finish(first)).toMatchObject(answered);
      await isWhole(story, name);
    });
  });
});
