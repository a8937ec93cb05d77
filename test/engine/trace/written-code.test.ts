import { type Head, renderJson, type StoredStep } from "@nova/engine";
import { codeHashOf, type Workflow, workflowHash } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { CodeCheck } from "../../../packages/engine/src/trace/scope-check.ts";
import { action, flow, lines, prompted } from "../../support/engine/flows.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";
import { fails, succeeds } from "../../support/engine/story.ts";

const one = flow("one", [prompted(action("a"))], lines("start > a > end"));

async function ended(codes: string[], workflow: Workflow = one): Promise<PromptStory> {
  const scripts = {
    a: ({ code }: { code: string }) => (code.startsWith("# bad") ? fails("no total") : succeeds("a", "1")),
  };
  const story = new PromptStory(workflow, scriptedMinds({ codes }), scripts);
  await story.start();
  await story.everything();
  return story;
}

/** Returns the stored steps of the node, which a test may change. */
function stepsOf(story: PromptStory): Map<number, StoredStep> {
  return story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).steps;
}

function tamper(story: PromptStory, step: number, change: (step: StoredStep) => StoredStep): void {
  const there = stepsOf(story).get(step) as StoredStep;
  stepsOf(story).set(step, change(there));
}

describe("the chain of work of a run with a prompt node", () => {
  it("lists its steps in order, with public field names", async () => {
    const { entries } = await (await ended(["# bad", "# good"])).trace();
    const [, a] = entries;
    expect(a?.steps.map(({ step_number, attempt_number, status }) => [step_number, attempt_number, status])).toEqual([
      [1, 1, "success"],
      [3, 1, "success"],
      [4, 1, "success"],
      [5, 1, "failed"],
      [3, 2, "success"],
      [4, 2, "success"],
      [5, 2, "success"],
      [6, 2, "success"],
    ]);
    const fields = [
      ...["format", "step_number", "step_name", "agent_name", "attempt_number", "input_data", "output_data"],
      ...["generated_code", "sandbox_id", "model_used", "tokens_input", "tokens_cached", "tokens_output", "cost_usd"],
      ...["tool_calls", "status", "error_message", "execution_time_ms", "timestamp", "prompt", "answer"],
    ];
    expect(Object.keys(a?.steps[1] ?? {}).sort()).toEqual(fields.sort());
    expect(a).toMatchObject({ code_executed: "# good", ai_metadata: { attempts: 2, generated_code: "# good" } });
  });

  it("shows in every trace the code of the model, but its prompts and answers only in a full trace", async () => {
    const story = await ended(["# good"]);
    const [, full] = (await story.trace()).entries;
    expect(full?.steps[1]).toMatchObject({ prompt: "p", answer: "# good", generated_code: "# good" });
    const [, short] = (await story.trace(false)).entries;
    expect(short?.steps[1]).toMatchObject({ generated_code: "# good" });
    expect(short?.steps[1]).not.toHaveProperty("prompt");
    expect(short?.ai_metadata).toMatchObject({ generated_code: "# good" });
  });

  it("can be rendered as JSON, with exact numbers in the context and plain numbers in the steps", async () => {
    const trace = await (await ended(["# good"])).trace();
    expect(JSON.parse(renderJson(trace.entries[1])).steps[1].cost_usd).toBe(0.001);
  });

  it("is verified with all contents of its steps", async () => {
    const story = await ended(["# bad", "# good"]);
    expect(await story.verify()).toMatchObject({ state: "anchored", erased: [] });
  });

  it("stores large code and prompts in blobs, which verify checks", async () => {
    const code = `# good ${"x".repeat(9000)}`;
    const story = await ended([code]);
    const content = stepsOf(story).get(2)?.contents?.code;
    expect(content).toMatchObject({ blob: { bytes: code.length } });
    expect((await story.trace()).entries[1]).toMatchObject({ code_executed: code, code_hash: sha256(code) });
    for (const key of story.world.blobs.blobs.keys()) {
      if (content && "blob" in content && key.endsWith(content.blob.sha256))
        story.world.blobs.blobs.set(key, Buffer.from("x"));
    }
    expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 1 } });
  });

  it.each([
    ["the text of a step", (step: StoredStep) => ({ ...step, text: step.text.replace("success", "failed") })],
    [
      "the code of a step",
      (step: StoredStep) => ({ ...step, contents: { ...step.contents, code: { text: "# other" } } }),
    ],
  ])("is reported as broken if %s was changed", async (_what, change) => {
    const story = await ended(["# good"]);
    tamper(story, 2, change);
    expect(await story.verify()).toMatchObject({
      state: "broken",
      problem: { seq: 1, message: expect.stringContaining("step 2") },
    });
  });

  it("stays valid if contents of steps were erased, and the trace shows null in place of these contents", async () => {
    const story = await ended(["# good"]);
    tamper(story, 2, ({ contents: _, ...step }) => step);
    expect(await story.verify()).toMatchObject({ state: "broken", erased: [] });
    await story.noteErasure();
    const { state, erased } = await story.verify();
    expect(state).toBe("anchored");
    expect(erased.map(({ step, content }) => `${step} ${content}`).sort()).toEqual(["2 answer", "2 code", "2 prompt"]);
    const [, a] = (await story.trace()).entries;
    expect(a?.steps[1]).toMatchObject({ generated_code: null, prompt: null, answer: null, cost_usd: 0.001 });
  });

  it("is reported as broken if the code that an entry stores does not match the hash that the entry names", async () => {
    const story = await ended(["# good"]);
    const link = story.world.chain.at({ execution: story.id, scope: "", seq: 1 });
    if (link.entry) link.entry = { ...link.entry, contents: { ...link.entry.contents, code: { text: "# other" } } };
    expect(await story.verify()).toMatchObject({
      state: "broken",
      problem: { message: expect.stringContaining("its code") },
    });
  });

  it("has only the hash of code that is locked in its workflow", async () => {
    const pinned = { code: "# good", generation: "g" };
    const story = new PromptStory(locked("# good"), scriptedMinds({ pinned }));
    await story.start();
    await story.everything();
    const [, entry] = story.entriesOf("");
    expect(entry?.contents).not.toHaveProperty("code");
    const [, a] = (await story.trace()).entries;
    expect(a).toMatchObject({ code_executed: "# good", ai_metadata: { cache_hit: true, model: "m-0" } });
    expect(await story.verify()).toMatchObject({ state: "anchored" });
  });
});

describe("an entry of pinned code that ran after its pinned analysis", () => {
  const pinned = { code: "# good", analysis: "# look", generation: "g" };

  async function hit(workflow: Workflow): Promise<PromptStory> {
    const story = new PromptStory(workflow, scriptedMinds({ pinned }));
    await story.start();
    await story.everything();
    return story;
  }

  /** Replaces contents of the node's entry without a change of their digests in the entry. */
  function tamperEntry(story: PromptStory, contents: Record<string, { text: string }>): void {
    const link = story.world.chain.at({ execution: story.id, scope: "", seq: 1 });
    if (link.entry) link.entry = { ...link.entry, contents: { ...link.entry.contents, ...contents } };
  }

  it("stores the analysis and its result, and verify checks both", async () => {
    const story = await hit(one);
    expect(Object.keys(story.entriesOf("")[1]?.contents ?? {}).sort()).toEqual([
      ...["analysis", "analysis_code", "code", "context"],
    ]);
    expect(await story.verify()).toMatchObject({ state: "anchored" });
  });

  it.each(["analysis", "analysis_code"])("is reported as broken if its content %s was changed", async (name) => {
    const story = await hit(one);
    tamperEntry(story, { [name]: { text: "{}" } });
    const problem = { seq: 1, message: expect.stringContaining(`its ${name} was changed`) };
    expect(await story.verify()).toMatchObject({ state: "broken", problem });
  });

  it("names the analysis by its hash, without its code, if the lockfile of the workflow has this analysis", async () => {
    const story = await hit(locked("# good", "# look"));
    expect(Object.keys(story.entriesOf("")[1]?.contents ?? {}).sort()).toEqual(["analysis", "context"]);
    const [, a] = (await story.trace()).entries;
    expect(a).toMatchObject({ code_executed: "# good", ai_metadata: { model: "m-0", cache_hit: true } });
    expect(a?.ai_metadata?.analysis_metadata).toMatchObject({ analysis_code: "# look" });
    expect(await story.verify()).toMatchObject({ state: "anchored" });
  });

  it("stores the code of an analysis that differs from the analysis in the lockfile", async () => {
    const story = await hit(locked("# good", "# another look"));
    expect(story.entriesOf("")[1]?.contents).toHaveProperty("analysis_code");
    expect((await story.trace()).entries[1]?.ai_metadata?.analysis_metadata).toMatchObject({ analysis_code: "# look" });
    expect(await story.verify()).toMatchObject({ state: "anchored" });
  });

  it("is reported as broken if its analysis is missing both in the entry and in the lockfile", async () => {
    const workflow = locked("# good", "# another look");
    const head = { analysis: sha256("# look"), code: sha256("# good"), digests: {} } as Partial<Head>;
    const check = new CodeCheck({ workflows: { stored: async () => versionOf(workflow) } as never });
    const named = { workflow_id: "one", workflow_version: 1, node_id: "a", ...head } as Head;
    expect(await check.problemOf(named)).toMatch(/the analysis code that it ran is neither/);
    expect(await check.problemOf({ ...named, analysis: sha256("# another look") })).toBeUndefined();
  });
});

function versionOf(workflow: Workflow) {
  return { workflowId: "one", version: 1, workflow, hash: workflowHash(workflow) };
}

function locked(code: string, analysis?: string): Workflow {
  const ingredients = {
    prompt: "",
    node_type: "action",
    edges: [],
    reads: {},
    generator: "",
    guides: {},
    model: "m-0",
    settings: "",
    template: "",
    requirements: [],
    lib: {},
  };
  const cost = { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };
  const codeHash = codeHashOf({ code, ...(analysis !== undefined && { analysis }) });
  const kept = {
    key: "g",
    ingredients,
    code,
    codeHash,
    ...(analysis !== undefined && { analysis, analysisHash: sha256(analysis) }),
    origin: "generated",
    model: "m-0",
    cost,
    createdAt: "2026-11-22T00:00:00.000Z",
  } as const;
  return { ...one, lock: { a: kept } };
}
