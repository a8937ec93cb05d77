import { describe, expect, it } from "vitest";
import { answer, echo, FUNCTION, failure, runState, scripted } from "../support/run.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const task = { Type: "Task", Resource: FUNCTION };
const broken = failure("Broken");

describe("the field Retry of a state", () => {
  it.each<[string, object, number[]]>([
    ["AWS's defaults", {}, [1000, 2000, 4000]],
    [
      "an interval, a rate and a number of attempts",
      { IntervalSeconds: 3, BackoffRate: 1.5, MaxAttempts: 2 },
      [3000, 4500],
    ],
    ["a longest delay", { IntervalSeconds: 10, MaxAttempts: 4, MaxDelaySeconds: 30 }, [10_000, 20_000, 30_000, 30_000]],
    ["full jitter", { IntervalSeconds: 4, JitterStrategy: "FULL", MaxAttempts: 2 }, [2000, 4000]],
    ["no attempts", { MaxAttempts: 0 }, []],
  ])(
    "with %s waits before each attempt accordingly, and fails with the error of the last attempt",
    async (_name, fields, delays) => {
      const clock = virtualClock({ random: () => 0.5 });
      const script = scripted(...Array(delays.length + 1).fill(broken));
      const state = { ...task, Retry: [{ ErrorEquals: ["Broken"], ...fields }] };
      const result = await runState(state, {}, { clock, invokeLambda: script.invokeLambda });
      expect(result).toMatchObject({ status: "FAILED", error: "Broken" });
      expect(clock.sleeps).toEqual(delays);
      expect(script.payloads).toHaveLength(delays.length + 1);
    },
  );

  it("counts the attempts of each retrier separately", async () => {
    const script = scripted(broken, failure("Other"), broken, failure("Other"), broken);
    const retry = [
      { ErrorEquals: ["Broken"], MaxAttempts: 2 },
      { ErrorEquals: ["Other"], MaxAttempts: 2, IntervalSeconds: 7, BackoffRate: 1 },
    ];
    const clock = virtualClock();
    const result = await runState({ ...task, Retry: retry }, {}, { clock, invokeLambda: script.invokeLambda });
    expect(result.error).toBe("Broken");
    expect(clock.sleeps).toEqual([1000, 7000, 2000, 7000]);
  });

  it("repeats attempts without a new entry into the state, counts them in RetryCount, and stops after the first success", async () => {
    const state = { ...task, Parameters: { "n.$": "$$.State.RetryCount" }, Retry: [{ ErrorEquals: ["States.ALL"] }] };
    const script = scripted(broken, broken, answer("done"));
    const result = await runState(state, {}, { invokeLambda: script.invokeLambda });
    expect(result.output).toBe("done");
    expect(script.payloads).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(result.events.map((event) => event.type).filter((type) => type === "TaskStateEntered")).toHaveLength(1);
  });
});

const large = { ok: true as const, payload: JSON.stringify("x".repeat(262_144)) };
const hang = { TimeoutSeconds: 1 };

describe("in the field ErrorEquals of a state,", () => {
  it.each([
    ["Broken", "Broken", true],
    ["broken", "Broken", false],
    ["States.TaskFailed", "Broken", true],
    ["States.ALL", "Broken", true],
    ["States.TaskFailed", "Lambda.Unknown", true],
  ])("the name %s matches the error %s: %s", async (name, error, caught) => {
    const { invokeLambda } = scripted(failure(error));
    expect(await isCaught(name, {}, invokeLambda)).toBe(caught);
  });

  it.each([
    ["States.ALL", true],
    ["States.Timeout", true],
    ["States.TaskFailed", false],
    ["States.HeartbeatTimeout", false],
  ])("the name %s matches a timeout: %s", async (name, caught) => {
    expect(await isCaught(name, hang, () => new Promise(() => {}))).toBe(caught);
  });

  it.each([
    ["States.ALL", false],
    ["States.TaskFailed", false],
    ["States.DataLimitExceeded", true],
  ])("the name %s matches a result that is too large: %s", async (name, caught) => {
    expect(await isCaught(name, {}, async () => large)).toBe(caught);
  });

  it.each(["States.ALL", "States.TaskFailed", "States.Runtime"])(
    "the name %s does not match the error States.Runtime",
    async (name) => {
      expect(await isCaught(name, { Parameters: { "x.$": "$.no" } }, echo)).toBe(false);
    },
  );

  it.each(["States.ALL", "States.ResultPathMatchFailure"])(
    "the name %s matches the error for a ResultPath that does not fit the input",
    async (name) => {
      expect(await isCaught(name, { ResultPath: "$.r" }, async () => answer(1), "text")).toBe(true);
    },
  );

  it.each(["States.ALL", "States.IntrinsicFailure"])(
    "the name %s matches the failure of an intrinsic function",
    async (name) => {
      const fields = { Parameters: { "x.$": "States.Format('{} {}', $.one)" } };
      expect(await isCaught(name, fields, echo, { one: 1 })).toBe(true);
    },
  );
});

async function isCaught(
  name: string,
  fields: object,
  invokeLambda: typeof echo,
  input: unknown = {},
): Promise<boolean> {
  const state = { ...task, ...fields, Catch: [{ ErrorEquals: [name], ResultPath: null, Next: "Caught" }] };
  const more = { Caught: { Type: "Succeed" } };
  return (await runState(state, input, { invokeLambda, more })).status === "SUCCEEDED";
}

describe("the field Catch of a state", () => {
  const catchAll = (fields: object = {}) => ({
    ...task,
    Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught", ...fields }],
  });
  const more = { Caught: { Type: "Succeed" } };

  it.each<[object, unknown]>([
    [{}, { Error: "Broken", Cause: expect.stringContaining('"errorMessage":"it broke"') }],
    [{ ResultPath: "$.error" }, { x: 1, error: { Error: "Broken", Cause: expect.any(String) } }],
    [{ ResultPath: null }, { x: 1 }],
  ])("with the fields %j places the error in the input as its ResultPath says", async (fields, expected) => {
    const { invokeLambda } = scripted(broken);
    const result = await runState(catchAll(fields), { x: 1 }, { invokeLambda, more });
    expect(result.output).toEqual(expected);
    expect(result.events.map((event) => event.type).slice(4, 7)).toEqual([
      "LambdaFunctionFailed",
      "TaskStateExited",
      "SucceedStateEntered",
    ]);
  });

  it("places the error in the raw input even when Parameters selected part of it", async () => {
    const { invokeLambda } = scripted(broken);
    const state = { ...catchAll({ ResultPath: "$.e.Error" }), Parameters: { "p.$": "$.part" } };
    const result = await runState(state, { part: 1, e: {} }, { invokeLambda, more });
    expect(result.output).toMatchObject({ part: 1, e: { Error: { Error: "Broken" } } });
  });

  it("applies only after the last retry, and uses the first catcher that names the error", async () => {
    const { invokeLambda, payloads } = scripted(broken, broken);
    const state = {
      ...task,
      Retry: [{ ErrorEquals: ["Broken"], MaxAttempts: 1 }],
      Catch: [
        { ErrorEquals: ["Other"], Next: "Wrong" },
        { ErrorEquals: ["Broken"], Next: "Caught" },
        { ErrorEquals: ["States.ALL"], Next: "Wrong" },
      ],
    };
    const result = await runState(
      state,
      {},
      { invokeLambda, more: { ...more, Wrong: { Type: "Fail", Error: "Wrong" } } },
    );
    expect(result.status).toBe("SUCCEEDED");
    expect(payloads).toHaveLength(2);
  });
});
