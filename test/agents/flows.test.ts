import { describe, expect, it } from "vitest";
import { mergeReads, needsAnalysis } from "../../packages/agents/src/lock/ingredients.ts";
import { fails, sets } from "../support/pipeline/node-means.ts";
import { deliver, play, type Scene } from "../support/pipeline/play.ts";

const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const complex = { role: "input_analyzer", answer: { needs_analysis: true, complexity: "medium" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const rejects = (reason: string) => ({ role: "output_validator", answer: { valid: false, reason } }) as const;
const good = 'context["discount"] = context["total"] * 0.1';

describe("a prompt node with a simple prompt", () => {
  const scene: Scene = { lines: [simple, writes(good), approves], runs: [sets({ discount: 150 })] };

  it("calls the input analyzer, the code generator, the code validator, the executor and the output validator once each, in this order", async () => {
    const { outcome, means } = await play(scene);
    expect(means.story()).toEqual([
      "InputAnalyzer 1",
      "CodeGenerator 1",
      "CodeValidator 1",
      "E2BExecutor 1",
      "OutputValidator 1",
    ]);
    expect(means.steps.map(({ step_number }) => step_number)).toEqual([1, 3, 4, 5, 6]);
    expect(outcome).toMatchObject({ status: "success", code: good, cacheHit: false, sandboxId: "sbx_1" });
  });

  it("stores the successful code together with its costs", async () => {
    const { outcome, kept } = await play(scene);
    expect(outcome.generation).toBe("gen_1");
    expect(kept).toMatchObject([{ code: good, model: "gpt-6-luna", cost: { usd: 0.003, tokens_input: 2700 } }]);
  });

  it("records the input and the output of the agent in each step", async () => {
    const { means } = await play(scene);
    const [input, generator, , runner, validator] = means.steps;
    expect(input).toMatchObject({
      step_name: "input_analysis",
      input_data: { context_keys: ["total"], context: { total: 1500 } },
      output_data: { needs_analysis: false, complexity: "simple" },
      model_used: "gpt-6-luna",
      tokens_input: 900,
      tokens_cached: 100,
      tokens_output: 50,
      cost_usd: 0.001,
    });
    expect(generator).toMatchObject({ generated_code: good, output_data: { stage: "task" }, error_message: null });
    expect(runner).toMatchObject({ sandbox_id: "sbx_1", output_data: { changes: { discount: 150 }, deleted: [] } });
    expect(validator).toMatchObject({ output_data: { valid: true, reason: "done", changes: ["discount"] } });
  });

  it("records the whole prompt and the whole answer of each model", async () => {
    const { means, models } = await play(scene);
    const asked = models.asked[1];
    expect(means.drafts[1]).toMatchObject({
      prompt: `${asked?.instructions}\n\n${asked?.input}`,
      answer: JSON.stringify({ code: good }),
    });
  });

  it("runs its code without the markdown that the model put around it", async () => {
    const fenced = writes(`\`\`\`python\n${good}\n\`\`\``);
    const { outcome } = await play({ ...scene, lines: [simple, fenced, approves] });
    expect(outcome.code).toBe(good);
  });
});

describe("a prompt node whose data is analysed before its code is written", () => {
  const analysis = 'result = {"type": "pdf", "pages": 1}';
  const found = sets({ _data_analysis: { result: { type: "pdf", pages: 1 } }, scratch: 1 });
  const scene: Scene = {
    lines: [complex, { role: "data_analyzer", answer: { code: analysis } }, writes(good), approves],
    runs: [found, sets({ total: "1234.56" })],
  };

  it("gives its analysis 15 seconds, and passes the result only to the code generator and the code", async () => {
    const { outcome, means, models } = await play(scene);
    expect(means.story().slice(0, 3)).toEqual(["InputAnalyzer 1", "DataAnalyzer 1", "CodeGenerator 1"]);
    expect(means.steps[1]).toMatchObject({ generated_code: analysis, output_data: { type: "pdf", pages: 1 } });
    expect(means.runs[0]).toMatchObject({ journal: 2, timeoutSeconds: 15 });
    expect(means.runs[0]).not.toHaveProperty("extra");
    expect(means.runs[1]?.extra).toEqual([{ key: "_data_analysis", json: '{"type":"pdf","pages":1}' }]);
    expect(models.asked[2]?.input).toContain('"analysis": {"type": "pdf", "pages": 1}');
    expect(outcome).toMatchObject({ result: { set: [{ key: "total" }] } });
  });

  it.each([
    ["fails", sets({ _data_analysis: { error: "ValueError: no pdf", traceback: "..." } }), "ValueError: no pdf"],
    ["returns nothing", sets({ other: 1 }), "the analysis left no answer"],
    ["takes too long", fails("ran longer than 15 s", { class: "NodeTimeout" }), "ran longer than 15 s"],
  ])("gets its code without the result of an analysis if the analysis %s", async (_, run, error) => {
    const { outcome, means, models } = await play({ ...scene, runs: [run, sets({ total: "1" })] });
    expect(means.steps[1]).toMatchObject({ status: "failed", error_message: error, generated_code: analysis });
    expect(models.asked[2]?.input).not.toContain('"analysis"');
    expect(outcome.status).toBe("success");
  });

  it("keeps the analysis that an earlier delivery has recorded, and writes no second one", async () => {
    const means = (await play({ ...scene, dieAt: 1 })).means;
    means.dieAt = Number.POSITIVE_INFINITY;
    const other = { role: "data_analyzer", answer: { code: "result = {}" } } as const;
    await deliver({ ...scene, lines: [other, writes(good), approves] }, means);
    expect(means.steps[1]?.generated_code).toBe(analysis);
  });

  it.each([
    ["reads the result of the analysis", 'context["total"] = context["_data_analysis"]["total"]'],
    [
      "reads the result of the analysis if there is one",
      'context["total"] = context.get("_data_analysis", {}).get("total")',
    ],
    ["mentions the key of the analysis result", 'found = "_data_analysis"\ncontext["total"] = context[found]["total"]'],
  ])("pins the analysis together with code that %s", async (_, code) => {
    const { outcome, kept } = await play({ ...scene, lines: [...scene.lines.slice(0, 2), writes(code), approves] });
    expect(outcome).toMatchObject({ status: "success", generation: "gen_1" });
    expect(outcome).not.toHaveProperty("analysis");
    expect(kept).toMatchObject([{ code, analysis }]);
  });

  it("pins code without an analysis if no analysis ran, or if the code does not mention the analysis result", async () => {
    const { kept } = await play(scene);
    expect(kept[0]).not.toHaveProperty("analysis");
    const code = 'context["total"] = context.get("_data_analysis")';
    const none = await play({ ...scene, lines: [simple, writes(code), approves], runs: [sets({ total: 1 })] });
    expect(none.kept[0]).not.toHaveProperty("analysis");
  });

  it("runs its analysis without a network, even if its definition allows hosts", async () => {
    const { means } = await play({ ...scene, task: { executor: { allow: ["imap.acme.com:993"] } } });
    expect(means.runs.map(({ network }) => network)).toEqual([false, undefined]);
  });
});

describe("an analysis that the code generator writes in place of the node's code", () => {
  const look = '# STAGE: ANALYSIS\nresult = {"pages": 1}';
  const found = sets({ _data_analysis: { result: { pages: 1 } } });

  it("is run, and its result is in the next request to the code generator", async () => {
    const { outcome, means, models } = await play({
      lines: [simple, writes(look), writes(`# STAGE: TASK\n${good}`), approves],
      runs: [found, sets({ discount: 1 })],
    });
    expect(means.story()).toEqual([
      "InputAnalyzer 1",
      "CodeGenerator 1",
      "DataAnalyzer 1",
      "CodeGenerator 1",
      "CodeValidator 1",
      "E2BExecutor 1",
      "OutputValidator 1",
    ]);
    expect(means.steps[2]).toMatchObject({ generated_code: look, model_used: null, cost_usd: 0 });
    expect(models.asked[2]?.input).toContain('"analysis": {"pages": 1}');
    expect(outcome.status).toBe("success");
  });

  it("is allowed by the code generator's prompt only until an analysis has run", async () => {
    const { models } = await play({
      lines: [simple, writes(look), writes(`# STAGE: TASK\n${good}`), approves],
      runs: [found, sets({ discount: 1 })],
    });
    const [, before, after] = models.asked.map(({ instructions }) => instructions);
    expect(before).toContain('its first line is "# STAGE: TASK"');
    expect(before).toContain('whose first line is "# STAGE: ANALYSIS"');
    expect(after).toContain('its first line is "# STAGE: TASK"');
    expect(after).not.toContain("STAGE: ANALYSIS");
  });

  it("is run once for the node, not once for each attempt", async () => {
    const { means } = await play({
      lines: [simple, writes(look), writes("a = 1"), writes(look), writes(good), approves],
      runs: [found, fails("KeyError: 'x'"), sets({ discount: 1 })],
    });
    const attempts = means.story().filter((step) => /^(Data|CodeG)/.test(step));
    expect(attempts).toEqual([
      "CodeGenerator 1",
      "DataAnalyzer 1",
      "CodeGenerator 1",
      "CodeGenerator 2",
      "CodeGenerator 3",
    ]);
  });

  it("fails the attempt if the code generator returns an analysis a second time", async () => {
    const { outcome, means } = await play({
      lines: [simple, writes(look), writes(look), writes(good), approves],
      runs: [found, sets({ discount: 1 })],
    });
    expect(means.story().slice(3, 5)).toEqual(["CodeGenerator 1", "CodeGenerator 2"]);
    expect(means.steps[4]?.input_data).toMatchObject({
      error_history: [{ attempt: 1, error: expect.stringMatching(/once more/) }],
    });
    expect(outcome.status).toBe("success");
  });
});

describe("a prompt node, which has up to three attempts,", () => {
  const undefinedName = "send_email(email_user, password)";
  const finding = { code: "PY102", line: 1, column: 12, message: 'the name "email_user" is not defined' } as const;

  it("succeeds with the third code, whose prompt has the code and the errors of the first two attempts", async () => {
    const { outcome, means, models } = await play({
      lines: [simple, writes(undefinedName), writes("b = 2"), rejects("email_user is None"), writes(good), approves],
      runs: [sets({ email_sent: false }), sets({ email_sent: true })],
      check: async (code) => (code === undefinedName ? [{ ...finding, severity: "error" }] : []),
    });
    expect(means.story()).toEqual([
      "InputAnalyzer 1",
      "CodeGenerator 1",
      "CodeValidator 1 failed",
      "CodeGenerator 2",
      "CodeValidator 2",
      "E2BExecutor 2",
      "OutputValidator 2 failed",
      "CodeGenerator 3",
      "CodeValidator 3",
      "E2BExecutor 3",
      "OutputValidator 3",
    ]);
    const last = models.asked.findLast(({ role }) => role === "code_generator")?.input ?? "";
    for (const text of ["is not defined", undefinedName, "email_user is None", "b = 2"]) expect(last).toContain(text);
    expect(outcome).toMatchObject({ status: "success", code: good });
  });

  it("fails after the third attempt, and records the code and the error of each attempt", async () => {
    const { outcome, means } = await play({
      lines: [simple, writes("a = 1"), writes("b = 2"), writes("c = 3")],
      runs: [1, 2, 3].map((n) =>
        fails(`NameError: name 'x${n}' is not defined`, { traceback: "Traceback", logs: "hi" }),
      ),
    });
    expect(outcome).toEqual({
      status: "failed",
      class: "NodeFailed",
      message: "Failed after 3 attempts: NameError: name 'x3' is not defined",
      traceback: "Traceback",
      logs: "hi",
      code: "c = 3",
      cacheHit: false,
      generation: null,
      sandboxId: "sbx_1",
    });
    const runs = means.steps.filter(({ agent_name }) => agent_name === "E2BExecutor");
    expect(runs.map(({ attempt_number, error_message }) => [attempt_number, error_message])).toEqual([
      [1, "NameError: name 'x1' is not defined"],
      [2, "NameError: name 'x2' is not defined"],
      [3, "NameError: name 'x3' is not defined"],
    ]);
  });

  it("makes a second attempt if the code of the first attempt runs too long", async () => {
    const slow = fails("ran longer than 30 s", { class: "NodeTimeout" });
    const { outcome } = await play({
      lines: [simple, writes("a = 1"), writes(good), approves],
      runs: [slow, sets({ discount: 1 })],
    });
    expect(outcome.status).toBe("success");
  });

  it("fails with the error of the timeout if the last code runs too long", async () => {
    const slow = fails("ran longer than 30 s", { class: "NodeTimeout" });
    const lines = [simple, writes("a = 1"), writes("b = 1"), writes("c = 1")];
    const { outcome } = await play({ lines, runs: [slow, slow, slow] });
    expect(outcome).toMatchObject({ class: "NodeTimeout", message: "Failed after 3 attempts: ran longer than 30 s" });
  });

  it("makes a second attempt if the first code changes nothing, and asks no model to judge the first code", async () => {
    const { means, models } = await play({
      lines: [simple, writes("a = 1"), writes(good), approves],
      runs: [sets({}), sets({ discount: 1 })],
    });
    const [first] = means.steps.filter(({ agent_name }) => agent_name === "OutputValidator");
    expect(first).toMatchObject({
      model_used: null,
      output_data: { valid: false, reason: expect.stringMatching(/changed nothing/) },
    });
    expect(models.asked).toHaveLength(4);
  });

  it("makes no second attempt if the check of the first code finds only warnings", async () => {
    const { outcome, means } = await play({
      lines: [simple, writes(good), approves],
      runs: [sets({ discount: 1 })],
      check: async () => [{ ...finding, severity: "warning" }],
    });
    expect(outcome.status).toBe("success");
    expect(means.steps[2]?.output_data).toMatchObject({ valid: true, findings: [{ code: "PY102" }] });
  });
});

describe("a decision whose code a model writes", () => {
  const decide = 'context["branch_decision"] = "yes"';

  it("gets its code from a prompt that contains the values of its outgoing edges", async () => {
    const about: unknown[] = [];
    const { outcome, models } = await play({
      task: { type: "decision", conditions: ["yes", "no", "default"] },
      lines: [simple, writes(decide), approves],
      runs: [sets({ branch_decision: "yes" })],
      check: async (_code, told) => {
        about.push(told);
        return [];
      },
    });
    expect(about).toMatchObject([{ nodeType: "decision", edges: ["yes", "no", "default"] }]);
    expect(models.asked[1]?.instructions).toContain("branch_decision");
    expect(models.asked[1]?.input).toContain('"edges": ["yes", "no", "default"]');
    expect(models.asked[2]?.input).toContain('"edges": ["yes", "no", "default"]');
    expect(outcome).toMatchObject({ status: "success", code: decide });
  });

  it("gets new code if its code chooses none of its edges", async () => {
    const { outcome, means } = await play({
      task: { type: "decision" },
      lines: [simple, writes("a = 1"), writes(decide), approves],
      runs: [sets({ other: 1 }), sets({ branch_decision: true })],
    });
    expect(means.story().slice(3, 5)).toEqual(["E2BExecutor 1 failed", "CodeGenerator 2"]);
    expect(outcome.status).toBe("success");
  });
});

describe("the tools that the code generator may call", () => {
  it("search the documentation of Python packages, and the step records each search", async () => {
    const searched = { name: "search_documentation", arguments: { library: "fitz", query: "extract text" } };
    const { means, models } = await play({
      lines: [simple, { ...writes(good), calls: [searched, searched] }, approves],
      runs: [sets({ discount: 1 })],
    });
    expect(means.steps[1]?.tool_calls).toEqual(
      Array(2).fill({ function: "search_documentation", arguments: searched.arguments, found: ["fitz.open"] }),
    );
    expect(models.asked[1]).toMatchObject({ maxToolCalls: 4 });
    expect(models.asked[0]?.tools).toBeUndefined();
  });
});

describe("needsAnalysis", () => {
  it.each([
    ['context["_data_analysis"]["rows"]', true],
    ["context.get('_data_analysis', {})", true],
    ['key = "_data_analysis"', true],
    ['context["data_analysis"]', false],
    ['context["total"] = 1', false],
  ])("for the code %s is %s", (code, needs) => {
    expect(needsAnalysis(code)).toBe(needs);
  });
});

describe("the keys of the context that code and its analysis read", () => {
  const read = (path: string, optional = false) => ({ path, optional });

  it("are merged into one list, in which each key occurs once", () => {
    expect(mergeReads([read("a"), read("b.c")], [read("b"), read("a")])).toEqual([
      ...[read("a"), read("b.c"), read("b")],
    ]);
  });

  it.each([
    ["code", [read("a")], [read("a", true)]],
    ["analysis", [read("a", true)], [read("a")]],
  ])("count as required if the %s requires them", (_, code, analysis) => {
    expect(mergeReads(code, analysis)).toEqual([read("a")]);
  });

  it("do not include the key of the analysis result", () => {
    const told = [read("_data_analysis"), read("_data_analysis.rows", true)];
    expect(mergeReads([...told, read("_data_analysis_of_last_year")], told)).toEqual([
      read("_data_analysis_of_last_year"),
    ]);
  });
});
