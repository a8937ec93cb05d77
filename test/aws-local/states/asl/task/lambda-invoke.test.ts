import { describe, expect, it } from "vitest";
import { answer, FUNCTION, failure, outline, runState, scripted } from "../../support/run.ts";
import { TaskTokens } from "../../support/run-state-machine.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const wait = {
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
  Parameters: { FunctionName: FUNCTION, Payload: { "token.$": "$$.Task.Token" } },
};

/** Runs a task whose function passes its task token to `act`. `act` answers the task. */
async function runWaiting(fields: object, act: (token: string, tokens: TaskTokens) => void, clock = virtualClock()) {
  const tokens = new TaskTokens();
  const invokeLambda = async (_arn: string, payload: string) => {
    act((JSON.parse(payload) as { token: string }).token, tokens);
    return answer("begun");
  };
  return runState({ ...wait, ...fields }, {}, { clock, tokens, invokeLambda });
}

describe("a state with lambda:invoke.waitForTaskToken", () => {
  it("waits for SendTaskSuccess and returns its output", async () => {
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

  it("accepts an answer that arrives before the function has ended", async () => {
    const result = await runWaiting({}, (token, tokens) => tokens.succeed(token, 1));
    expect(result.output).toBe(1);
  });

  it.each([
    ["Refused", "by hand", { error: "Refused", cause: "by hand" }],
    [undefined, undefined, {}],
  ])("fails with the error of SendTaskFailure: %s", async (error, cause, expected) => {
    const result = await runWaiting({}, (token, tokens) => setImmediate(() => tokens.fail(token, error, cause)));
    expect(result).toMatchObject({ status: "FAILED", ...expected });
    expect(result.events.at(-2)?.type).toBe("TaskFailed");
  });

  it("gives each attempt its own token, and refuses the token of an earlier attempt", async () => {
    const seen: string[] = [];
    const live: boolean[] = [];
    const result = await runWaiting({ Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 1 }] }, (token, tokens) => {
      seen.push(token);
      live.push(tokens.awaits(seen[0] as string));
      setImmediate(() => (seen.length === 1 ? tokens.fail(token, "Again", "") : tokens.succeed(token, "ok")));
    });
    expect(result.output).toBe("ok");
    expect(new Set(seen).size).toBe(2);
    expect(live).toEqual([true, false]);
  });

  it("accepts no answer after it has timed out, and records no further events of its task", async () => {
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

    /**
     * Lets the function end only after the execution has entered the state `Caught`, which is the only state that
     * sleeps for 60 seconds.
     */
    async function settleAfterTimeout(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms === 60_000) begun.resolve();
      await clock.sleep(ms, signal);
    }
  });

  it("fails when the Lambda function that gets the task token fails", async () => {
    const { invokeLambda } = scripted(failure("Broken"));
    expect(await runState(wait, {}, { invokeLambda })).toMatchObject({ status: "FAILED", error: "Broken" });
  });

  it.each([{}, { FunctionName: "work" }])("fails at run time with the Parameters %j", async (Parameters) => {
    expect(await runState({ ...wait, Parameters }, {})).toMatchObject({ error: "States.Runtime" });
  });
});
