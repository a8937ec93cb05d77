import { describe, expect, it } from "vitest";
import { TaskTokens } from "../../support/run-state-machine.ts";
import { answer, FUNCTION, failure, outline, runState, scripted } from "../../support/run.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const invoke = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke" };
const wait = {
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
  Parameters: { FunctionName: FUNCTION, Payload: { "token.$": "$$.Task.Token" } },
};

describe("lambda:invoke", () => {
  it.each([
    ["work", {}, FUNCTION],
    ["work", { Qualifier: "live" }, `${FUNCTION}:live`],
    [`${FUNCTION}:live`, {}, `${FUNCTION}:live`],
  ])("calls %s %j", async (FunctionName, fields, expected) => {
    const called: string[] = [];
    const invokeLambda = async (arn: string) => {
      called.push(arn);
      return answer(1);
    };
    await runState({ ...invoke, Parameters: { FunctionName, ...fields } }, {}, { invokeLambda });
    expect(called).toEqual([expected]);
  });

  it("wraps the result as the Lambda API answers it, with AWS's events", async () => {
    const { invokeLambda, payloads } = scripted(answer({ r: 1 }));
    const fields = { Parameters: { FunctionName: "work", "Payload.$": "$" }, TimeoutSeconds: 9 };
    const result = await runState({ ...invoke, ...fields }, { x: 1 }, { invokeLambda });
    expect(payloads).toEqual([{ x: 1 }]);
    expect(result.output).toMatchObject({ ExecutedVersion: "$LATEST", Payload: { r: 1 }, StatusCode: 200 });
    expect(outline(result).slice(2, 6)).toEqual([
      "3<2 TaskScheduled",
      "4<3 TaskStarted",
      "5<4 TaskSucceeded",
      "6<5 TaskStateExited",
    ]);
    expect(result.events[2]?.taskScheduledEventDetails).toEqual({
      resourceType: "lambda",
      resource: "invoke",
      region: "us-east-1",
      parameters: '{"FunctionName":"work","Payload":{"x":1}}',
      timeoutInSeconds: 9,
    });
  });

  it("reports the function's error as its own", async () => {
    const { invokeLambda } = scripted(failure("Broken"));
    const result = await runState({ ...invoke, Parameters: { FunctionName: "work" } }, {}, { invokeLambda });
    expect(result.error).toBe("Broken");
    expect(result.events.at(-2)).toMatchObject({
      type: "TaskFailed",
      taskFailedEventDetails: { resource: "invoke", error: "Broken" },
    });
  });

  it("is a runtime error without a FunctionName", async () => {
    expect(await runState({ ...invoke, Parameters: {} }, {})).toMatchObject({ error: "States.Runtime" });
  });
});

/** Runs a task whose function passes its token to `act`, which answers from outside. */
async function runWaiting(fields: object, act: (token: string, tokens: TaskTokens) => void, clock = virtualClock()) {
  const tokens = new TaskTokens();
  const invokeLambda = async (_arn: string, payload: string) => {
    act((JSON.parse(payload) as { token: string }).token, tokens);
    return answer("begun");
  };
  return runState({ ...wait, ...fields }, {}, { clock, tokens, invokeLambda });
}

describe("lambda:invoke.waitForTaskToken", () => {
  it("waits for SendTaskSuccess and hands on what it brings", async () => {
    const result = await runWaiting({}, (token, tokens) =>
      setImmediate(() => tokens.succeed(token, { approved: true })),
    );
    expect(result.output).toEqual({ approved: true });
    expect(outline(result).slice(2, 7)).toEqual([
      "3<2 TaskScheduled",
      "4<3 TaskStarted",
      "5<4 TaskSubmitted",
      "6<5 TaskSucceeded",
      "7<6 TaskStateExited",
    ]);
    expect(result.events[5]?.taskSucceededEventDetails).toMatchObject({
      resource: "invoke.waitForTaskToken",
      output: '{"approved":true}',
    });
  });

  it("keeps an answer that comes before the function itself has ended", async () => {
    const result = await runWaiting({}, (token, tokens) => tokens.succeed(token, 1));
    expect(result.output).toBe(1);
  });

  it.each([
    ["Refused", "by hand", { error: "Refused", cause: "by hand" }],
    [undefined, undefined, {}],
  ])("fails with what SendTaskFailure says: %s", async (error, cause, expected) => {
    const result = await runWaiting({}, (token, tokens) => setImmediate(() => tokens.fail(token, error, cause)));
    expect(result).toMatchObject({ status: "FAILED", ...expected });
    expect(result.events.at(-2)?.type).toBe("TaskFailed");
  });

  it("gives each attempt a token of its own and forgets the old one", async () => {
    const seen: string[] = [];
    const live: boolean[] = [];
    const result = await runWaiting({ Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 1 }] }, (token, tokens) => {
      seen.push(token);
      live.push(tokens.beat(seen[0] as string));
      setImmediate(() => (seen.length === 1 ? tokens.fail(token, "Again", "") : tokens.succeed(token, "ok")));
    });
    expect(result.output).toBe("ok");
    expect(new Set(seen).size).toBe(2);
    expect(live).toEqual([true, false]);
  });

  it("times out when no heartbeat comes, and Catch may name that", async () => {
    const fields = {
      HeartbeatSeconds: 10,
      Next: "Caught",
      Catch: [{ ErrorEquals: ["States.HeartbeatTimeout"], Next: "Caught" }],
    };
    const clock = virtualClock();
    const tokens = new TaskTokens();
    const result = await runState(
      { ...wait, ...fields },
      {},
      {
        clock,
        tokens,
        invokeLambda: async () => answer(null),
        more: { Caught: { Type: "Succeed" } },
      },
    );
    expect(result.output).toEqual({ Error: "States.Timeout", Cause: null });
    expect(clock.now() - virtualClock().now()).toBe(10_000);
  });

  it("takes no answer for a task that timed out, and records nothing more of it", async () => {
    const clock = virtualClock();
    const tokens = new TaskTokens();
    let token = "";
    const begun = Promise.withResolvers<void>();
    const invokeLambda = async (_arn: string, payload: string) => {
      token = (JSON.parse(payload) as { token: string }).token;
      await begun.promise;
      return answer(null);
    };
    const after = { Caught: { Type: "Wait", Seconds: 60, Next: "End" }, End: { Type: "Succeed" } };
    const state = { ...wait, TimeoutSeconds: 1, Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }] };
    const running = runState(
      state,
      {},
      { clock: { ...clock, sleep: settleAfterTimeout }, tokens, invokeLambda, more: after },
    );
    const result = await running;
    expect(tokens.succeed(token, "late")).toBe(false);
    expect(result.events.map(({ type }) => type)).not.toContain("TaskSubmitted");
    expect(result.status).toBe("SUCCEEDED");

    /** The function answers while the machine is already in the state after the timeout. */
    async function settleAfterTimeout(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms === 60_000) begun.resolve();
      await clock.sleep(ms, signal);
    }
  });

  it("counts from the last heartbeat, and no heartbeat moves TimeoutSeconds", async () => {
    const clock = virtualClock();
    const result = await runWaiting(
      { HeartbeatSeconds: 10, TimeoutSeconds: 25 },
      async (token, tokens) => {
        while (tokens.beat(token)) await clock.sleep(8000);
      },
      clock,
    );
    expect(result.error).toBe("States.Timeout");
    expect((result.events.at(-1)?.timestamp ?? 0) - (result.events[0]?.timestamp ?? 0)).toBe(25);
  });

  it("fails when the function that should start the work fails", async () => {
    const { invokeLambda } = scripted(failure("Broken"));
    expect(await runState(wait, {}, { invokeLambda })).toMatchObject({ status: "FAILED", error: "Broken" });
  });
});
