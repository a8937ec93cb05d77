import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../../packages/aws-local/src/lambda-types.ts";
import { answer, echo, FUNCTION, failure, outline, runState, scripted } from "../../support/run.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const task = { Type: "Task", Resource: `${FUNCTION}:live` };

describe("a Task state that calls a Lambda function", () => {
  it("passes its input to the function, returns the function's result, and records the events that AWS records", async () => {
    const { invokeLambda, payloads } = scripted(answer({ seen: true }));
    const result = await runState({ ...task, TimeoutSeconds: 900 }, { x: 1 }, { invokeLambda });
    expect(payloads).toEqual([{ x: 1 }]);
    expect(result.output).toEqual({ seen: true });
    expect(outline(result)).toEqual([
      "1<0 ExecutionStarted",
      "2<0 TaskStateEntered",
      "3<2 LambdaFunctionScheduled",
      "4<3 LambdaFunctionStarted",
      "5<4 LambdaFunctionSucceeded",
      "6<5 TaskStateExited",
      "7<6 ExecutionSucceeded",
    ]);
    expect(result.events[2]?.lambdaFunctionScheduledEventDetails).toEqual({
      resource: `${FUNCTION}:live`,
      input: '{"x":1}',
      inputDetails: { truncated: false },
      timeoutInSeconds: 900,
    });
    expect(result.events[4]?.lambdaFunctionSucceededEventDetails).toMatchObject({ output: '{"seen":true}' });
  });

  it("applies Parameters, ResultPath and OutputPath in the order of AWS", async () => {
    const fields = {
      Parameters: { "p.$": "$.in.a", "name.$": "$$.State.Name" },
      ResultPath: "$.out",
      OutputPath: "$.out.p",
    };
    const result = await runState({ ...task, ...fields }, { in: { a: 5 } }, { invokeLambda: echo });
    expect(result.output).toBe(5);
    expect(result.events[2]?.lambdaFunctionScheduledEventDetails?.input).toMatch(/^\{"p":5,"name":"S"\}$/);
  });

  it("fails with the type of an error that the function throws, and with JSON as the cause, as in AWS", async () => {
    const { invokeLambda } = scripted(failure("NodeFailed", "no result"));
    const result = await runState(task, {}, { invokeLambda });
    const cause =
      '{"errorType":"NodeFailed","errorMessage":"no result","trace":["NodeFailed: no result","    at handler"]}';
    expect(result).toMatchObject({ status: "FAILED", error: "NodeFailed", cause });
    expect(result.events.slice(-2)).toMatchObject([
      { type: "LambdaFunctionFailed", lambdaFunctionFailedEventDetails: { error: "NodeFailed", cause } },
      { type: "ExecutionFailed", executionFailedEventDetails: { error: "NodeFailed", cause } },
    ]);
  });

  it("fails with the error name of the Lambda service if the service itself fails", async () => {
    const { invokeLambda } = scripted(Object.assign(new Error("killed"), { name: "Lambda.Unknown" }));
    expect(await runState(task, {}, { invokeLambda })).toMatchObject({ error: "Lambda.Unknown", cause: "killed" });
  });

  it("fails if the result is not JSON", async () => {
    const { invokeLambda } = scripted({ ok: true, payload: "undefined" });
    expect(await runState(task, {}, { invokeLambda })).toMatchObject({ error: "States.TaskFailed" });
  });

  it("times out after its TimeoutSeconds, and the late result is dropped", async () => {
    const clock = virtualClock();
    const invokeLambda: InvokeLambda = async () => {
      await clock.sleep(6000);
      return answer("late");
    };
    const result = await runState({ ...task, TimeoutSeconds: 5 }, {}, { clock, invokeLambda });
    expect([result.status, result.error, result.cause]).toEqual(["FAILED", "States.Timeout", undefined]);
    expect(outline(result).slice(-2)).toEqual(["5<4 LambdaFunctionTimedOut", "6<5 ExecutionFailed"]);
    expect(clock.now() - virtualClock().now()).toBe(5000);
  });

  it("leaves the function running after its timeout, as AWS does", async () => {
    const clock = virtualClock();
    let aborted = false;
    const invokeLambda: InvokeLambda = async (_arn, _payload, signal) => {
      signal?.addEventListener("abort", () => {
        aborted = true;
      });
      await clock.sleep(60_000);
      return answer(null);
    };
    await runState({ ...task, TimeoutSeconds: 1 }, {}, { clock, invokeLambda });
    expect(aborted).toBe(false);
  });
});
