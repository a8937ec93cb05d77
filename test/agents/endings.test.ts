import { describe, expect, it } from "vitest";
import { fails, sets } from "../support/pipeline/node-means.ts";
import { deliver, play, type Scene } from "../support/pipeline/play.ts";
import type { Line } from "../support/pipeline/scripted-models.ts";

const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const complex = { role: "input_analyzer", answer: { needs_analysis: true, complexity: "simple" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const rejects = { role: "output_validator", answer: { valid: false, reason: "no mail went out" } } as const;

describe("a model that gives no usable answer", () => {
  it.each([
    ["input_analyzer", [] as Line[]],
    ["data_analyzer", [complex]],
    ["code_generator", [simple]],
    ["output_validator", [simple, writes("a = 1")]],
  ] as const)("fails the node if the model refuses to answer as %s", async (role, before) => {
    const runs = role === "output_validator" ? [sets({ a: 1 })] : [];
    const { outcome, means } = await play({ lines: [...before, { role, fails: "refused" }], runs });
    expect(outcome).toMatchObject({ status: "failed", class: "NodeFailed", message: "the model failed: refused" });
    expect(means.steps.at(-1)).toMatchObject({ status: "failed", cost_usd: 0.001, tokens_output: 50 });
    expect(means.drafts.at(-1)?.answer).toBe("half an ans");
  });

  it.each(["unavailable", "unauthorized", "unknown_model"] as const)(
    "fails the node with ModelUnavailable if the provider reports the reason %s",
    async (reason) => {
      const { outcome } = await play({ lines: [simple, { role: "code_generator", fails: reason }] });
      expect(outcome).toMatchObject({ class: "ModelUnavailable", message: `the model failed: ${reason}`, code: null });
    },
  );

  it("fails the node with an error that names its successor if the model is retired", async () => {
    const { outcome } = await play({
      task: { executor: { model: { default: "gpt-5" } } },
      lines: [],
      parts: { clock: { now: () => Date.parse("2027-03-01") } },
    });
    expect(outcome).toMatchObject({
      class: "ModelUnavailable",
      message: expect.stringMatching(/gpt-5.*retired.*successor/),
    });
  });

  it.each(["cut_off", "invalid"] as const)(
    "uses up one attempt of the node if it is the code generator, and its answer is %s",
    async (reason) => {
      const cut = { role: "code_generator", fails: reason } as const;
      const { outcome, models } = await play({
        lines: [simple, cut, writes("a = 1"), approves],
        runs: [sets({ a: 1 })],
      });
      expect(models.asked[2]?.input).toContain(`the model failed: ${reason}`);
      expect(outcome.status).toBe("success");
    },
  );

  it("uses up one attempt of the node if it is the output validator, and its answer is cut off", async () => {
    const cut = { role: "output_validator", fails: "cut_off" } as const;
    const { outcome } = await play({
      lines: [simple, writes("a = 1"), cut, writes("b = 1"), approves],
      runs: [sets({ a: 1 }), sets({ a: 2 })],
    });
    expect(outcome).toMatchObject({ status: "success", code: "b = 1" });
  });

  it.each([
    ["input_analyzer", [] as Line[]],
    ["data_analyzer", [complex]],
  ] as const)("does not fail the node if its answer as %s is cut off", async (role, before) => {
    const { outcome, means } = await play({
      lines: [...before, { role, fails: "cut_off" }, writes("a = 1"), approves],
      runs: [sets({ a: 1 })],
    });
    expect(outcome.status).toBe("success");
    expect(means.story()).toContain("CodeGenerator 1");
  });
});

describe("the model of each agent of a prompt node", () => {
  it("is the model of the node, or else the model of the workflow, or else the default model", async () => {
    const { models } = await play({
      task: {
        executor: { model: { code_generator: "gpt-6.1-sol" } },
        workflow: { model: { output_validator: "gpt-6.1-terra" } },
      },
      lines: [simple, writes("a = 1"), approves],
      runs: [sets({ a: 1 })],
    });
    expect(models.asked.map(({ model }) => model)).toEqual(["gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra"]);
  });
});

describe("the cost limit", () => {
  it("of a node prevents a call of a model that could exceed the limit, and reports the amount spent", async () => {
    const { outcome, means } = await play({
      task: { executor: { maxCostUsd: 0.01 } },
      lines: [simple, { ...writes("a = 1"), costUsd: 0.004 }, { ...approves, estimatedUsd: 0.006 }],
      runs: [sets({ a: 1 })],
    });
    expect(outcome).toMatchObject({
      class: "BudgetExceeded",
      message: expect.stringMatching(
        /node "work" has spent \$0\.005 of \$0\.01 .* may cost \$0\.006 - raise the node's/,
      ),
      code: "a = 1",
    });
    expect(means.steps.at(-1)).toMatchObject({ agent_name: "OutputValidator", status: "failed", cost_usd: 0 });
  });

  it("of a workflow includes the earlier costs of the run", async () => {
    const { outcome } = await play({
      task: { workflow: { maxCostUsd: 1 }, spentUsd: 0.9995 },
      lines: [
        { ...simple, estimatedUsd: 0.0004 },
        { ...writes("a = 1"), estimatedUsd: 0.001 },
      ],
    });
    expect(outcome).toMatchObject({
      class: "BudgetExceeded",
      message: expect.stringMatching(/this run has spent \$1\.0005 of \$1\.00 .*the workflow's limits\.max_cost_usd/),
    });
  });

  it.each([
    [{ maxCostUsd: 1 }, /this run has spent \$1\.0005 of \$1\.00/],
    [{}, undefined],
  ])(
    "of a workflow counts the costs of other branches exactly if the workflow has a limit: %j",
    async (workflow, message) => {
      const { outcome } = await play({
        task: { workflow },
        means: { spentBesideUsd: 0.9995 },
        lines: [
          { ...simple, estimatedUsd: 0.0004 },
          { ...writes("a = 1"), estimatedUsd: 0.001 },
          ...(message ? [] : [approves]),
        ],
        runs: message ? [] : [sets({ a: 1 })],
      });
      if (message) expect(outcome).toMatchObject({ class: "BudgetExceeded", message: expect.stringMatching(message) });
      else expect(outcome.status).toBe("success");
    },
  );

  it("of a client includes the client's costs of this month and the earlier requests of this delivery", async () => {
    const { outcome } = await play({
      means: { month: { spentUsd: 4.9985, limitUsd: 5 } },
      lines: [
        { ...simple, estimatedUsd: 0.0015 },
        { ...writes("a = 1"), estimatedUsd: 0.002 },
      ],
    });
    expect(outcome).toMatchObject({
      class: "BudgetExceeded",
      message: expect.stringMatching(
        /client "\w+" has spent \$4\.9985 of \$5\.00 .*may cost \$0\.002 - raise the client's quotas\.max_cost_usd/,
      ),
    });
  });

  it("of a node includes the costs of steps that an earlier delivery recorded", async () => {
    const scene: Scene = {
      task: { executor: { maxCostUsd: 0.0015 } },
      lines: [simple, { ...writes("a = 1"), estimatedUsd: 0.001 }],
    };
    const { means } = await play({ ...scene, dieAt: 1 });
    means.dieAt = 9;
    const { outcome } = await deliver({ ...scene, lines: scene.lines.slice(1) }, means);
    expect(outcome.status === "failed" && outcome.class).toBe("BudgetExceeded");
  });
});

describe("the time budget of a prompt node", () => {
  it("is checked before each attempt", async () => {
    const left = [840_000, 840_000, 840_000, 840_000, 0];
    const { outcome } = await play({
      lines: [simple, writes("a = 1")],
      runs: [fails("KeyError: 'x'")],
      means: { timeLeftMs: () => left.shift() ?? 0 },
    });
    expect(outcome).toMatchObject({ class: "BudgetExceeded", message: expect.stringContaining("time"), code: "a = 1" });
  });

  it.each([
    [0, "InputAnalyzer"],
    [4, "OutputValidator"],
  ])("ends the node before its next call of a model if it is used up after %i checks", async (looks, agent) => {
    let looked = 0;
    const { outcome, means } = await play({
      lines: looks === 0 ? [] : [simple, writes("a = 1")],
      runs: looks === 0 ? [] : [sets({ a: 1 })],
      means: { timeLeftMs: () => (looked++ < looks ? 1_000 : 0) },
    });
    expect(outcome).toMatchObject({ class: "BudgetExceeded" });
    expect(means.steps.at(-1)).toMatchObject({ agent_name: agent, status: "failed", model_used: null });
  });

  it("shortens the timeout of a model's call to the time that is left", async () => {
    const { models } = await play({
      lines: [simple, writes("a = 1"), approves],
      runs: [sets({ a: 1 })],
      means: { timeLeftMs: () => 20_000 },
    });
    expect(models.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([20_000, 20_000, 20_000]);
  });
});

describe("code that a model writes for a node with effects", () => {
  const effects = { node: { effects: true } } as const;

  it("is written a second time if the check refuses it before it has run", async () => {
    const { outcome } = await play({
      task: effects,
      lines: [simple, writes("bad"), writes("a = 1"), approves],
      runs: [sets({ a: 1 })],
      check: async (code) =>
        code === "bad" ? [{ code: "PY102", line: 1, column: 1, message: "m", severity: "error" }] : [],
    });
    expect(outcome.status).toBe("success");
  });

  it.each([
    ["failed", [simple, writes("a = 1")], fails("KeyError: 'x'"), "KeyError: 'x'"],
    [
      "ran too long",
      [simple, writes("a = 1")],
      fails("ran longer than 30 s", { class: "NodeTimeout" }),
      "ran longer than 30 s",
    ],
    [
      "did not do what the prompt asks for",
      [simple, writes("a = 1"), rejects],
      sets({ a: 1 }),
      "Output validation failed: no mail went out",
    ],
    ["changed nothing", [simple, writes("a = 1")], sets({}), "Output validation failed: the code changed nothing"],
  ])("is not written again after it has run and %s", async (_, lines, run, message) => {
    const { outcome } = await play({ task: effects, lines, runs: [run] });
    expect(outcome).toMatchObject({ status: "failed", message: expect.stringContaining(message) });
    expect(outcome.status === "failed" && outcome.message).not.toMatch(/^Failed after/);
  });
});

describe("a failure of an external service", () => {
  it("fails the node with the message of this failure, and no further code is written", async () => {
    const error = "gaierror: [Errno -2] Name or service not known";
    const traceback = "Traceback (most recent call last):\nsocket.gaierror: [Errno -2] Name or service not known";
    const { outcome, means } = await play({
      lines: [simple, writes('socket.create_connection((context["host"], 25))')],
      runs: [fails(error, { traceback })],
    });
    expect(outcome).toMatchObject({
      class: "NodeFailed",
      message: error,
      traceback,
    });
    expect(means.steps.at(-1)?.output_data).toEqual({ error_class: "NodeFailed", fault: "world" });
  });

  it("is reported with the reason from the log of the network relay", async () => {
    const { outcome } = await play({
      lines: [simple, writes('socket.create_connection((context["host"], 25))')],
      runs: [
        fails("ConnectionResetError: [Errno 104] Connection reset by peer", {
          logs: "[network] mail.example.com:25 cannot be reached: Connection refused\n",
        }),
      ],
    });
    expect(outcome).toMatchObject({
      class: "NodeFailed",
      message: expect.stringMatching(
        /^ConnectionResetError: .* - mail\.example\.com:25 cannot be .*: Connection refused$/,
      ),
    });
  });
});

describe("the end of the Lambda's time", () => {
  it("throws NodeUnfinished and records no step if it comes during a call of a model", async () => {
    const scene: Scene = { lines: [simple], dieAt: 9 };
    const { means } = await play({ lines: [simple], dieAt: 1 });
    means.dieAt = 9;
    means.abort.abort(new Error("time is up"));
    const again = deliver({ lines: scene.lines }, means);
    await expect(again).rejects.toMatchObject({ name: "NodeUnfinished" });
    expect(means.steps).toHaveLength(1);
  });
});
