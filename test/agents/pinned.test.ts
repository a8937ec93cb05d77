import { describe, expect, it } from "vitest";
import { fails, sets } from "../support/pipeline/node-means.ts";
import { play, type Scene } from "../support/pipeline/play.ts";

const pinned = { generation: "gen_7", code: 'context["discount"] = 150' };
const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const refused = fails("ConnectionRefusedError: [Errno 111] Connection refused", {
  traceback: "Traceback (most recent call last):\nConnectionRefusedError: [Errno 111] Connection refused",
});

describe("pinned code that fits the current node", () => {
  it("runs without a call of a model, without a step and without an analysis", async () => {
    const { outcome, means } = await play({ pinned, lines: [], runs: [sets({ discount: 150 })] });
    expect(outcome).toMatchObject({ status: "success", cacheHit: true, ...pinned, sandboxId: "sbx_1" });
    expect(means.steps).toEqual([]);
    expect(means.runs).toEqual([{ journal: 0, code: pinned.code, timeoutSeconds: 30 }]);
  });

  it.each([
    ["raises an exception", fails("KeyError: 'total'"), "KeyError: 'total'"],
    ["changes nothing", sets({}), "changed nothing"],
    ["takes too long", fails("ran longer than 30 s", { class: "NodeTimeout" }), "ran longer"],
  ])("is recorded as attempt 0 and replaced by new code if it %s", async (_, run, error) => {
    const { outcome, means, models, kept } = await play({
      pinned,
      lines: [simple, writes("new = 1"), approves],
      runs: [run, sets({ discount: 1 })],
    });
    expect(means.story().slice(0, 3)).toEqual(["E2BExecutor 0 failed", "InputAnalyzer 1", "CodeGenerator 1"]);
    expect(means.steps[0]).toMatchObject({ step_number: 5, generated_code: pinned.code, sandbox_id: "sbx_1" });
    expect(means.steps[0]?.error_message).toContain(error);
    expect(models.asked[1]?.input).toContain('"attempt": 0');
    expect(outcome).toMatchObject({ status: "success", code: "new = 1", cacheHit: false, generation: "gen_1" });
    expect(kept).toHaveLength(1);
  });

  it.each<[string, Partial<Scene>]>([
    ["because of an external service", { runs: [refused] }],
    ["in a node with effects", { runs: [fails("KeyError: 'total'")], task: { node: { effects: true } } }],
    ["in a frozen run", { runs: [fails("KeyError: 'total'")], task: { frozen: true } }],
    ["in a workflow that requires approval", { runs: [sets({})], task: { workflow: { approval: "required" } } }],
  ])("fails the node, and is not replaced by new code, if it fails %s", async (_, scene) => {
    const { outcome, means } = await play({ pinned, lines: [], ...scene });
    expect(outcome).toMatchObject({ status: "failed", class: "NodeFailed", cacheHit: true, ...pinned });
    expect(means.steps).toEqual([]);
  });

  it("fails the node if the three attempts to replace it also fail", async () => {
    const { outcome } = await play({
      pinned,
      lines: [simple, writes("a = 1"), writes("b = 1"), writes("c = 1")],
      runs: [0, 1, 2, 3].map((n) => fails(`KeyError: ${n}`)),
    });
    expect(outcome).toMatchObject({ message: "Failed after 3 attempts: KeyError: 3", code: "c = 1", cacheHit: false });
  });

  it("fails the node without a call of a model if a host in the code cannot be reached", async () => {
    const code = 'import imaplib\nimaplib.IMAP4_SSL("imap.elsewhere.example")';
    const { outcome } = await play({ pinned: { generation: "g", code }, lines: [], runs: [refused] });
    expect(outcome).toMatchObject({ status: "failed", message: expect.stringContaining("Connection refused") });
  });
});

describe("pinned code with a pinned analysis", () => {
  const analysis = 'result = {"rows": 2}';
  const both = { ...pinned, analysis };
  const found = sets({ _data_analysis: { result: { rows: 2 } }, scratch: 1 });

  it("runs the analysis first, without a network, and passes its result only to the code", async () => {
    const { outcome, means } = await play({ pinned: both, lines: [], runs: [found, sets({ discount: 150 })] });
    expect(means.runs).toMatchObject([
      { journal: -2, timeoutSeconds: 15, network: false },
      { journal: 0, code: pinned.code, timeoutSeconds: 30 },
    ]);
    expect(means.runs[0]?.code).toContain(JSON.stringify(analysis));
    expect(means.runs[0]).not.toHaveProperty("extra");
    expect(means.runs[1]?.extra).toEqual([{ key: "_data_analysis", json: '{"rows":2}' }]);
    expect(means.steps).toEqual([]);
    expect(outcome).toMatchObject({ status: "success", cacheHit: true, ...pinned });
    expect(outcome.analysis).toEqual({ code: analysis, json: '{"rows":2}' });
  });

  it("masks a secret in the result of the analysis", async () => {
    const loud = sets({ _data_analysis: { result: { key: "hunter2" } } });
    const scene = { pinned: both, lines: [], runs: [loud, sets({ discount: 1 })] };
    const { outcome, means } = await play({ ...scene, task: { secrets: { password: "hunter2" } } });
    expect(outcome.analysis?.json).toBe('{"key":"***"}');
    expect(means.runs[1]?.extra?.[0]?.json).toBe('{"key":"***"}');
  });

  it.each([
    [
      "raises an exception",
      sets({ _data_analysis: { error: "KeyError: 'rows'", traceback: "line 1" } }),
      "KeyError: 'rows'",
    ],
    ["returns nothing", sets({}), "left no answer"],
    ["takes too long", fails("ran longer than 15 s", { class: "NodeTimeout" }), "ran longer than 15 s"],
    ["needs a server, which it cannot reach", refused, "Connection refused"],
  ])("is replaced by new code if the analysis %s", async (_, run, error) => {
    const { outcome, means, models } = await play({
      pinned: both,
      lines: [simple, writes("new = 1"), approves],
      runs: [run, sets({ discount: 1 })],
    });
    expect(means.story().slice(0, 3)).toEqual(["DataAnalyzer 0 failed", "InputAnalyzer 1", "CodeGenerator 1"]);
    expect(means.steps[0]).toMatchObject({ step_number: 2, generated_code: analysis, output_data: null });
    expect(means.steps[0]?.error_message).toContain(error);
    expect(models.asked[1]?.input).toContain("the analysis failed");
    expect(outcome).toMatchObject({ status: "success", code: "new = 1", cacheHit: false });
    expect(outcome).not.toHaveProperty("analysis");
  });

  it("is replaced, if it fails, by new code that does not get the result of the pinned analysis", async () => {
    const { means, kept } = await play({
      pinned: both,
      lines: [simple, writes('context["a"] = context.get("_data_analysis")'), approves],
      runs: [found, fails("KeyError: 'total'"), sets({ a: 1 })],
    });
    expect(means.story()[0]).toBe("E2BExecutor 0 failed");
    expect(means.runs[2]).not.toHaveProperty("extra");
    expect(kept[0]).not.toHaveProperty("analysis");
  });

  it.each<[string, Partial<Scene>]>([
    ["in a node with effects", { task: { node: { effects: true } } }],
    ["in a frozen run", { task: { frozen: true } }],
  ])("is not replaced by new code, and fails the node, if the analysis fails %s", async (_, scene) => {
    const { outcome, means } = await play({ pinned: both, lines: [], runs: [sets({})], ...scene });
    const message = "the analysis failed: the analysis left no answer";
    expect(outcome).toMatchObject({ status: "failed", message, cacheHit: true, ...pinned });
    expect(outcome.analysis).toEqual({ code: analysis, json: null });
    expect(means.steps).toEqual([]);
  });
});

describe("if no pinned code fits,", () => {
  const required = { workflow: { approval: "required" } } as const;

  it.each<[string, Partial<Scene>]>([
    ["a frozen run", { task: { frozen: true } }],
    ["a frozen run that requires approval", { task: { frozen: true, ...required } }],
    ["a run whose code waits for approval", { task: required, missing: { message: "no code fits", waits: true } }],
  ])("%s fails with an explanation why no code may run, and asks no model", async (_, scene) => {
    const { outcome, means } = await play({ lines: [], ...scene });
    const message = "no code fits";
    expect(outcome).toMatchObject({ status: "failed", class: "NodeFailed", message, code: null, cacheHit: false });
    expect(means.steps).toEqual([]);
  });

  it("a run that requires approval writes and checks code, does not run it, and fails", async () => {
    const wrong = [{ code: "PY101", line: 1, column: 1, message: "totl is not defined", severity: "error" }] as const;
    const { outcome, means, proposed, kept } = await play({
      task: required,
      lines: [writes("context['a'] = totl"), writes("# STAGE: ANALYSIS\nresult = 1"), writes("context['a'] = 1")],
      check: async (code) => (code.includes("totl") ? [...wrong] : []),
    });
    const written = "context['a'] = 1";
    expect(outcome).toMatchObject({ status: "failed", class: "NodeFailed", code: written, generation: null });
    expect(outcome).toHaveProperty(
      "message",
      expect.stringMatching(/waits for somebody's approval.*nova lock approve/),
    );
    expect(proposed).toMatchObject([{ code: written, model: "gpt-6-luna", cost: { usd: expect.any(Number) } }]);
    expect([means.runs, kept]).toEqual([[], []]);
  });

  it("a node named in `fresh` gets new code, even if other code waits for approval", async () => {
    const { proposed } = await play({
      task: { ...required, fresh: true },
      missing: { message: "nobody has approved its code", waits: true },
      lines: [writes("context['a'] = 1")],
    });
    expect(proposed).toMatchObject([{ code: "context['a'] = 1" }]);
  });

  it("a run that requires approval fails after three attempts that the check of the code refuses", async () => {
    const wrong = [{ code: "PY101", line: 1, column: 1, message: "no", severity: "error" }] as const;
    const { outcome, proposed } = await play({
      task: required,
      lines: [writes("a"), writes("b"), writes("c")],
      check: async () => [...wrong],
    });
    expect(outcome).toMatchObject({ status: "failed", message: "Failed after 3 attempts: line 1: no" });
    expect(proposed).toEqual([]);
  });
});
