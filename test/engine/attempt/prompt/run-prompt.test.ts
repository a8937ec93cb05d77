import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../../packages/engine/src/sha256.ts";
import { action, decision, flow, lines, prompted } from "../../../support/engine/flows.ts";
import { textRef } from "../../../support/engine/harness.ts";
import { PromptStory } from "../../../support/engine/prompt-story.ts";
import { type MindScript, scriptedMinds } from "../../../support/engine/scripted-minds.ts";
import { fails, given, type Story, succeeds, wellTold } from "../../../support/engine/story.ts";

type Scripts = ConstructorParameters<typeof Story>[1];

const one = flow("one", [prompted(action("a"))], lines("start > a > end"));
const two = flow("two", [prompted(action("a")), action("b")], lines("start > a > b > end"));
const withEffects = flow("effects", [prompted(action("a", { effects: true }))], lines("start > a > end"));
const pinned = { code: "# pinned", generation: "g1" };

async function told(workflow: Workflow, minds: MindScript, scripts: Scripts = {}, context = "{}") {
  const story = new PromptStory(workflow, scriptedMinds(minds), scripts);
  await story.start(context);
  const answer = await story.finish(story.deliver("a", 0));
  wellTold(story);
  return { story, answer };
}

describe("a node whose code a model writes", () => {
  it("runs the code of the model, and its entry names that code", async () => {
    const { story, answer } = await told(one, { codes: ["# one"] }, { a: [succeeds("a", "850.0")] });
    expect(answer).toMatchObject({ seq: 1, summary: { node: "a", set: ["a"] } });
    expect(story.begun.map(({ request }) => [request.code, request.fileName, request.timeoutSeconds])).toEqual([
      ["# one", "a.py", 30],
    ]);
    expect(story.head).toMatchObject({ node_id: "a", status: "success", generation: "of # one", nodes: 1, attempt: 1 });
    expect(story.head).not.toHaveProperty("cache_hit");
  });

  it("uses a separate claim and a separate idempotency key for each run of its code", async () => {
    const { story } = await told(one, { analysis: "# look", codes: ["# one"] });
    const [analysis, task] = story.begun;
    expect([analysis?.claim.step, task?.claim.step]).toEqual([2, 5]);
    expect(task?.request.environment.NOVA_IDEMPOTENCY_KEY).toBe(`${task?.claim.link}.5`);
  });

  it("can connect only to the hosts that its definition names", async () => {
    const { story } = await told(one, { codes: ["# one"] });
    expect(story.begun[0]?.request.network).toEqual({ allow: [] });
  });

  it("finds the result of its analysis in the context, but later nodes do not find it there", async () => {
    const script: Scripts = {
      a: ({ code }) =>
        code === "# look"
          ? succeeds("pages", "2")
          : {
              result: { ...succeeds("a", "1").result, set: [member("a", "1"), member("_data_analysis", "9")] } as never,
            },
    };
    const { story } = await told(one, { analysis: "# look", codes: ["# one"] }, script, '{"n":1}');
    const [, task] = story.begun;
    expect(task && given(task.request, "_data_analysis")).toBe('[{"key":"pages","json":"2"}]');
    expect((await story.trace()).context.text).toBe('{"n":1,"a":1}');
  });

  it("does not see the decision of an earlier node", async () => {
    const decides = flow("decides", [prompted(decision("a"))], [...lines("start > a"), ["a", "end", "yes"]]);
    const scripts = { a: [succeeds("branch_decision", '"yes"')] };
    const { story, answer } = await told(decides, { codes: ["# one"] }, scripts, '{"branch_decision":"old"}');
    expect(answer).toMatchObject({ decision: "yes" });
    expect(story.begun[0] && given(story.begun[0].request, "branch_decision")).toBeUndefined();
  });

  it("fails an attempt if no edge fits the decision of the code, just like a node with handwritten code", async () => {
    const decides = flow("decides", [prompted(decision("a"))], [...lines("start > a"), ["a", "end", "yes"]]);
    const scripts = { a: [succeeds("branch_decision", '"no"'), succeeds("branch_decision", '"yes"')] };
    const { story } = await told(decides, { codes: ["# one", "# two"] }, scripts);
    const { steps } = (await story.trace()).entries[1] as { steps: { error_message: string | null }[] };
    expect(steps[3]?.error_message).toContain('no edge for branch_decision "no"');
  });

  it("fails an attempt whose result refers to a blob that the node may not use", async () => {
    const foreign = JSON.stringify({ $blob: textRef(Buffer.from("somebody else's")) });
    const scripts = { a: [succeeds("a", foreign), succeeds("a", "1")] };
    const { story } = await told(one, { codes: ["# one", "# two"] }, scripts);
    expect(story.head.steps).toHaveLength(8);
    expect((await story.trace()).context.text).toBe('{"a":1}');
  });

  it("uses the large result of its code that an earlier delivery recorded before that delivery died", async () => {
    const body = Buffer.from("report ".repeat(900));
    const script = { a: [succeeds("a", JSON.stringify({ $blob: textRef(body) }), { files: [body] })] };
    const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }), script);
    await story.start();
    const first = story.deliver("a", 0);
    await story.until(first, "ask output_validator");
    first.kill();
    story.world.sandboxes.kill("S1");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    wellTold(story);
  });

  it("records the analysis that started first, even if the model gives another delivery a different analysis", async () => {
    const story = new PromptStory(one, scriptedMinds({ analysis: "# look", codes: ["# one"] }));
    await story.start();
    const first = story.deliver("a", 0);
    await story.until(first, "wait");
    first.kill();
    await story.finish(story.deliver("a", 0));
    expect(story.paid.filter((ask) => ask === "2 data_analyzer")).toHaveLength(2);
    expect(story.begun.map(({ request }) => request.code)).toEqual(["# look", "# one"]);
    const [, entry] = (await story.trace()).entries;
    expect(entry?.steps[1]).toMatchObject({ agent_name: "DataAnalyzer", generated_code: "# look" });
    wellTold(story);
  });

  it("leaves its sandbox to the next node of the run", async () => {
    const { story } = await told(two, { codes: ["# one"] });
    await story.finish(story.deliver("b", 1));
    expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S1"]);
  });

  it("gets a sandbox that lives for the whole time budget of the node", async () => {
    const { story } = await told(one, { codes: ["# one"] });
    const [box] = story.world.sandboxes.alive();
    expect(Date.parse(box?.endsAt ?? "") - Date.parse(box?.createdAt ?? "")).toBe((840 + 60 + 240) * 1000);
  });
});

describe("a node with pinned code", () => {
  it("asks no model and records no steps, and its entry says that the code was pinned", async () => {
    const { story } = await told(one, { pinned });
    expect(story.paid).toEqual([]);
    expect(story.head).toMatchObject({ steps: [], generation: "g1", cache_hit: true, nodes: 1, execution_time_ms: 1 });
    expect(story.head).not.toHaveProperty("spent");
  });

  it("runs the same code in every delivery, even if different code is pinned between two deliveries", async () => {
    const codes = [pinned, { code: "# newer", generation: "g2" }];
    const minds = { ...scriptedMinds({}), pinned: () => codes.shift() ?? null };
    const story = await new PromptStory(one, minds).start();
    const first = story.deliver("a", 0);
    await story.until(first, "execute");
    first.kill();
    await story.finish(story.deliver("a", 0));
    expect(story.begun.map(({ request }) => request.code)).toEqual(["# pinned"]);
    expect(story.head).toMatchObject({ generation: "g1", cache_hit: true });
  });

  it("asks a model for new code if the pinned code fails, and records that failure as its first step", async () => {
    const scripts: Scripts = { a: ({ code }) => (code === "# pinned" ? fails("old") : succeeds("a", "1")) };
    const { story } = await told(one, { pinned, codes: ["# one"] }, scripts);
    const { steps } = (await story.trace()).entries[1] as { steps: object[] };
    expect(steps[0]).toMatchObject({
      ...{ step_number: 5, attempt_number: 0, status: "failed", error_message: "old", generated_code: "# pinned" },
    });
    expect(story.head).toMatchObject({ generation: "of # one" });
  });

  it("fails without asking a model if the pinned code fails and may have had effects", async () => {
    const { story, answer } = await told(withEffects, { pinned }, { a: [fails("old")] });
    expect(answer).toBe("NodeFailed");
    expect(story.head).toMatchObject({ status: "failed", steps: [] });
    expect(story.begun).toHaveLength(1);
  });

  it("gets a sandbox that lives for one run of its code, and extends the sandbox's life before it asks a model for new code", async () => {
    const hits = flow("hits", [action("a"), prompted(action("b"))], lines("start > a > b > end"));
    const scripts: Scripts = { b: ({ code }) => (code === "# pinned" ? fails("old") : succeeds("b", "1")) };
    const story = new PromptStory(hits, scriptedMinds({ pinned, codes: ["# one"] }), scripts);
    await story.start();
    await story.finish(story.deliver("a", 0));
    await story.finish(story.deliver("b", 1));
    const calls = story.world.scheduler.story.filter((call) => /: (?:extend|ask input_analyzer)/.test(call));
    expect(calls.map((call) => call.split(": ")[1])).toEqual(["extend S1", "ask input_analyzer"]);
  });
});

describe("a node whose pinned code has an analysis", () => {
  const behind = { ...pinned, analysis: "# look" };
  const finds: Scripts = { a: ({ code }) => (code === "# look" ? succeeds("pages", "2") : succeeds("a", "1")) };

  it("runs the analysis first, under a separate claim, and gives the result of the analysis to the code", async () => {
    const { story } = await told(one, { pinned: behind }, finds, '{"n":1}');
    const [look, task] = story.begun;
    expect([look?.claim.step, task?.claim.step]).toEqual([-2, 0]);
    expect([look?.request.code, look?.request.timeoutSeconds]).toEqual(["# look", 15]);
    expect(look && given(look.request, "_data_analysis")).toBeUndefined();
    expect(task && given(task.request, "_data_analysis")).toBe('[{"key":"pages","json":"2"}]');
    expect((await story.trace()).context.text).toBe('{"n":1,"a":1}');
    expect(story.paid).toEqual([]);
  });

  it("lets its code connect to the hosts that the node names, and lets its analysis connect to no host", async () => {
    const reaching = flow("reaching", [prompted(action("a"))], lines("start > a > end"));
    const [, node] = reaching.nodes;
    if (node && "executor" in node && node.executor.kind === "prompt") node.executor.allow = ["imap.acme.com"];
    const { story } = await told(reaching, { pinned: behind }, finds);
    expect(story.begun.map(({ request }) => request.network)).toEqual([{ allow: [] }, { allow: ["imap.acme.com"] }]);
  });

  it("has no steps, but an entry that records its code and its analysis", async () => {
    const { story } = await told(one, { pinned: behind }, finds);
    expect(story.head).toMatchObject({
      ...{ steps: [], cache_hit: true, code: sha256("# pinned"), analysis: sha256("# look"), execution_time_ms: 2 },
      digests: { code: sha256("# pinned"), analysis_code: sha256("# look") },
    });
    const [, entry] = (await story.trace()).entries;
    expect(entry).toMatchObject({ code_executed: "# pinned", ai_metadata: { execution_time_ms: 1, stages_used: 2 } });
    expect(entry?.ai_metadata?.analysis_metadata).toEqual({
      ...{ analysis_code: "# look", analysis_result: [{ key: "pages", json: "2" }] },
      ...{ generation_time_ms: 0, execution_time_ms: 1 },
    });
  });

  it("asks a model for new code if the pinned analysis fails, and records that failure as its first step", async () => {
    const scripts: Scripts = { a: ({ code }) => (code === "# look" ? fails("no pdf") : succeeds("a", "1")) };
    const { story } = await told(one, { pinned: behind, codes: ["# one"] }, scripts);
    expect(story.begun.map(({ request }) => request.code)).toEqual(["# look", "# one"]);
    const [, entry] = (await story.trace()).entries;
    expect(entry?.steps[0]).toMatchObject({ step_number: 2, attempt_number: 0, generated_code: "# look" });
    expect(story.head).toMatchObject({ generation: "of # one" });
    expect(story.head).not.toHaveProperty("analysis");
  });

  it.each([
    ["analysis", "# look", ["# look", "# one"]],
    ["code", "# pinned", ["# look", "# pinned", "# one"]],
  ])("does not repeat recorded steps when its sandbox is lost after a failed %s", async (_, bad, begun) => {
    const repeatable = flow("repeatable", [prompted(action("a", { effects: false }))], lines("start > a > end"));
    const scripts: Scripts = { a: ({ code }) => (code === bad ? fails("no") : succeeds("a", "1")) };
    const story = new PromptStory(repeatable, scriptedMinds({ pinned: behind, codes: ["# one"] }), scripts);
    await story.start();
    const first = story.deliver("a", 0);
    await story.until(first, "ask input_analyzer");
    first.kill();
    story.world.sandboxes.kill("S1");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ request }) => request.code)).toEqual(begun);
    wellTold(story);
  });

  it("fails in a frozen run if its analysis fails, and its metadata then contain no result of the analysis", async () => {
    const story = new PromptStory(one, scriptedMinds({ pinned: behind }), { a: [fails("no pdf")] });
    await story.start("{}", { frozen: true });
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeFailed");
    expect(story.head).toMatchObject({ status: "failed", steps: [], analysis: sha256("# look") });
    const [, entry] = (await story.trace()).entries;
    expect(entry?.ai_metadata?.analysis_metadata).toMatchObject({ analysis_code: "# look", analysis_result: null });
    wellTold(story);
  });
});

describe("a prompt node whose models fail", () => {
  it("records in its failed entry the last code, every step and the cost of all steps", async () => {
    const { story, answer } = await told(one, { codes: ["# 1", "# 2", "# 3"] }, { a: [fails("it broke")] });
    expect(answer).toBe("NodeFailed");
    expect(story.head).toMatchObject({ status: "failed", error_class: "NodeFailed", nodes: 1 });
    expect(story.head.steps).toHaveLength(10);
    expect(story.head.spent).toEqual({ cost_usd: 0.004, tokens_input: 400, tokens_cached: 160, tokens_output: 40 });
    const [, entry] = (await story.trace()).entries;
    expect(entry).toMatchObject({ code_executed: "# 3", error_message: "Failed after 3 attempts: it broke" });
  });

  it("shows its prompt instead of code in the trace if no code was written", async () => {
    const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
    await story.start();
    const delivery = story.deliver("a", 0);
    await story.until(delivery, "ask input_analyzer");
    await story.perform(delivery, "before");
    expect(await story.finish(delivery)).toBe("ModelUnavailable");
    expect(story.head).toMatchObject({ error_class: "ModelUnavailable", code: null, nodes: 0, steps: [] });
    const [, entry] = (await story.trace()).entries;
    expect(entry).toMatchObject({ code_executed: "Do a.", ai_metadata: { prompt_task: "Do a.", attempts: 0 } });
  });

  it("writes its failed entry only after it has stopped the code that another delivery runs", async () => {
    const { story, first, second } = await twoAtOnce();
    story.codeStopsAt = "finish";
    await story.finish(first);
    expect(story.begun.map(({ state }) => state)).toEqual(["running"]);
    await story.perform(second, "before");
    expect(await story.finish(second)).toBe("ModelUnavailable");
    expect(story.begun.map(({ state }) => state)).toEqual(["dead"]);
    expect(await story.finish(first)).toBe("ModelUnavailable");
    wellTold(story);
  });

  it("stays failed in the next delivery if the delivery that recorded the failure dies", async () => {
    const { story, first, second } = await twoAtOnce();
    first.kill();
    await story.perform(second, "before");
    await story.until(second, "entry");
    second.kill();
    const paid = story.paid.length;
    expect(await story.finish(story.deliver("a", 0))).toBe("ModelUnavailable");
    expect(story.paid).toHaveLength(paid);
    expect(story.head.steps).toHaveLength(1);
    wellTold(story);
  });

  it("is completed by the delivery that has recorded more steps if a model fails in the other delivery", async () => {
    const { story, first, second } = await twoAtOnce();
    await story.until(first, "ask code_generator");
    await story.perform(second, "before");
    expect(await story.finish(second)).toMatchObject({ seq: 1 });
    expect(await story.finish(first)).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ request }) => request.code)).toEqual(["# look", "# one"]);
    wellTold(story);
  });

  it.each([
    ["input_analyzer", { steps: 0, code_executed: "Do a." }],
    ["code_generator", { steps: 1, code_executed: "Do a." }],
    ["output_validator", { steps: 4, code_executed: "# one" }],
  ])(
    "lists in its entry the recorded steps and the last code if its run is cancelled while the agent %s asks a model",
    async (role, expected) => {
      const story = new PromptStory(one, scriptedMinds({ codes: ["# one"] }));
      await story.start();
      const delivery = story.deliver("a", 0);
      await story.until(delivery, `ask ${role}`);
      await story.finish(story.cancel());
      const [, entry] = (await story.trace()).entries;
      expect(entry).toMatchObject({
        status: "failed",
        error_class: "ExecutionClosed",
        code_executed: expected.code_executed,
      });
      expect(entry?.steps).toHaveLength(expected.steps);
      const paid = story.paid.length;
      expect(await story.finish(delivery)).toBe("ExecutionClosed");
      expect(story.paid.length).toBeLessThanOrEqual(paid + 1);
      await story.judge();
    },
  );

  it("ends when its time budget is over, which begins at the start of its turn", async () => {
    const story = new PromptStory(one, scriptedMinds({ codes: ["# one"], verdicts: [false] }));
    await story.start();
    const first = story.deliver("a", 0);
    await story.until(first, "ask output_validator");
    first.kill();
    story.world.clock.advance(841_000);
    expect(await story.finish(story.deliver("a", 0))).toBe("BudgetExceeded");
    expect(story.head.steps).toHaveLength(5);
  });
});

/** Starts two deliveries, and stops both just before they ask a model for the same analysis. */
async function twoAtOnce() {
  const story = new PromptStory(one, scriptedMinds({ analysis: "# look", codes: ["# one"] }));
  await story.start();
  const first = story.deliver("a", 0);
  await story.until(first, "ask data_analyzer");
  const second = story.deliver("a", 0);
  await story.until(second, "ask data_analyzer");
  return { story, first, second };
}

describe("a frozen run", () => {
  it("is marked as frozen in every entry, and asks no model", async () => {
    const story = new PromptStory(two, scriptedMinds({}));
    await story.start("{}", { frozen: true });
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeFailed");
    expect(story.head).toMatchObject({ node_id: "a", frozen: true });
    await story.finish(story.close(0));
    expect(story.head).toMatchObject({ node_type: "close", frozen: true });
    expect(story.paid).toEqual([]);
  });
});

describe("a run that was started with the names of two nodes in `fresh`", () => {
  it("names these nodes in every entry, and models write new code only for them", async () => {
    const both = flow("both", [prompted(action("a")), prompted(action("b"))], lines("start > a > b > end"));
    const chosen: [string, boolean][] = [];
    const minds = scriptedMinds({ codes: ["# new"] });
    const choose = ({ node, fresh }: Parameters<typeof minds.pinned>[0]) => {
      chosen.push([node.id, fresh]);
      return fresh ? null : pinned;
    };
    const story = new PromptStory(both, { ...minds, pinned: choose });
    await story.start("{}", { fresh: ["a"] });
    await story.everything();
    expect(chosen).toEqual([
      ["a", true],
      ["b", false],
    ]);
    expect(story.head).toMatchObject({ node_type: "close", fresh: ["a"] });
    expect(story.begun.map(({ request }) => request.code)).toEqual(["# new", "# pinned"]);
  });
});

describe("a run that a workflow node of another run starts", () => {
  const inner = flow("inner", [prompted(action("i"))], lines("start > i > end"));
  const outer = flow(
    "outer",
    [{ id: "w", type: "workflow", workflow: "inner", output: { got: "$" } }],
    lines("start > w > end"),
  );

  async function ran(minds: MindScript, frozen: boolean) {
    const story = new PromptStory(outer, scriptedMinds(minds));
    story.world.publish(inner);
    await story.start("{}", { frozen });
    await story.everything();
    return story;
  }

  it("is frozen if the outer run is frozen", async () => {
    const story = await ran({}, true);
    expect(story.world.record(story.id)).toMatchObject({ status: "failed", error: { node: "w", class: "NodeFailed" } });
    expect(story.paid).toEqual([]);
  });

  it("adds the cost of its models to the cost of the outer run", async () => {
    const story = await ran({ codes: ["# one"] }, false);
    expect(story.world.record(story.id)).toMatchObject({ status: "completed", spent: { cost_usd: 0.003 } });
    await story.judge();
  });
});

describe("the cost of models", () => {
  it("is summed from entry to entry, also over branches, and the record of the run contains the sum", async () => {
    const forked = flow(
      "forked",
      [prompted(action("a")), prompted(action("b")), prompted(action("c")), action("j")],
      lines("start > a > b > j > end", "a > c > j"),
    );
    const story = new PromptStory(forked, scriptedMinds({ codes: ["# one"] }));
    await story.start();
    await story.everything();
    const spent = { cost_usd: 0.009, tokens_input: 900, tokens_cached: 360, tokens_output: 90 };
    expect(story.world.record(story.id)).toMatchObject({ status: "completed", spent });
    await story.judge();
  });

  it("in earlier nodes is known to a later node, so that the cost limit of the later node can include it", async () => {
    const story = new PromptStory(
      flow("row", [prompted(action("a")), prompted(action("b"))], lines("start > a > b > end")),
      scriptedMinds({ codes: ["# one"] }),
    );
    await story.start();
    await story.everything();
    expect(story.authors.tasks.map(({ node, spentUsd }) => [node.id, spentUsd])).toEqual([
      ["a", 0],
      ["b", 0.003],
    ]);
  });
});

function member(key: string, json: string) {
  return { key, json };
}
