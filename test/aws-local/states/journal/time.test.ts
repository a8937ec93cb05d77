import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../packages/aws-local/src/lambda-types.ts";
import { handClock } from "../support/hand-clock.ts";
import {
  asks,
  historyOf,
  input,
  inRow,
  keeper,
  reopened,
  rested,
  standing,
  succeed,
  works,
} from "../support/parked.ts";
import { failure } from "../support/run.ts";
import { heldLambda, type TestServer } from "../support/server.ts";

const waits = (Seconds: number) => ({ Type: "Wait", Seconds });
const running = { status: "RUNNING" };

/**
 * Starts an execution on a clock that only the test moves. Resolves when the execution waits for an answer or for a
 * time.
 */
async function resting(definition: object) {
  const [clock, { invokeLambda, tokenOf, payloads }] = [handClock(), keeper()];
  const options = { clock, invokeLambda };
  return { first: await rested(definition, options), clock, options, tokenOf, payloads };
}

async function typesOf(server: TestServer): Promise<(string | undefined)[]> {
  return (await historyOf(server)).map(({ type }) => type);
}

describe("time that passes while no process runs", () => {
  it("ends a Wait state at the start of the next process if the wait is over by then", async () => {
    const { first, clock, options } = await resting(inRow({ Wait: waits(3600), After: works }));
    await first.close();
    clock.pass(7200);
    const second = await reopened(first, options);
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("counts towards the delay before a retry, so no process has to run until the retry", async () => {
    const clock = handClock();
    const calls: string[] = [];
    const invokeLambda: InvokeLambda = async (_arn, payload) =>
      calls.push(payload) === 1 ? failure("Busy") : { ok: true, payload };
    const tries = { ...works, Retry: [{ ErrorEquals: ["Busy"], IntervalSeconds: 60 }] };
    const first = await rested(inRow({ Try: tries }), { clock, invokeLambda });
    const second = await reopened(first, { clock, invokeLambda });
    expect([second.interrupted, await standing(second), calls.length]).toMatchObject([[], running, 1]);
    clock.pass(60);
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED" });
    expect(calls).toHaveLength(2);
  });

  it("counts towards a Wait state, so that the state waits only for the rest of its time", async () => {
    const { first, clock, options } = await resting(inRow({ Wait: waits(3600) }));
    await first.close();
    clock.pass(3000);
    const second = await reopened(first, options);
    clock.pass(599);
    expect(await standing(second)).toMatchObject(running);
    clock.pass(1);
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("times out a task without an answer, and an answer that arrives later is refused", async () => {
    const limited = { ...asks, TimeoutSeconds: 60, Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Late" }] };
    const { first, clock, options, tokenOf } = await resting(inRow({ Ask: limited, Late: { Type: "Pass" } }));
    await first.close();
    clock.pass(61);
    const second = await reopened(first, options);
    expect(await standing(second)).toMatchObject({
      status: "SUCCEEDED",
      output: '{"Error":"States.Timeout","Cause":null}',
    });
    expect(await typesOf(second)).toContain("TaskTimedOut");
    await expect(second.client.send(succeed(tokenOf(input)))).rejects.toMatchObject({ name: "TaskTimedOut" });
  });

  it("ends an execution if it has exceeded the TimeoutSeconds of its state machine", async () => {
    const { first, clock, options } = await resting({ ...inRow({ Ask: asks }), TimeoutSeconds: 100 });
    await first.close();
    clock.pass(100);
    expect(await standing(await reopened(first, options))).toMatchObject({ status: "TIMED_OUT" });
  });

  it("makes several Wait states due, and the next process ends them in the order of their times", async () => {
    const fails = {
      StartAt: "Short",
      States: { Short: { ...waits(10), Next: "Stop" }, Stop: { Type: "Fail", Error: "First" } },
    };
    const Branches = [inRow({ Long: waits(20), After: works }), fails];
    const { first, clock, options, payloads } = await resting(inRow({ Fork: { Type: "Parallel", Branches } }));
    await first.close();
    clock.pass(30);
    expect(await standing(await reopened(first, options))).toMatchObject({ status: "FAILED", error: "First" });
    expect(payloads).toEqual([]);
  });
});

describe("a process that opens the data folder without running executions", () => {
  it("continues no execution, even if the wait of the execution is over", async () => {
    const { first, clock, options, payloads } = await resting(inRow({ Wait: waits(10), After: works }));
    await first.close();
    clock.pass(20);
    const second = await reopened(first, { ...options, drives: false });
    expect(await standing(second)).toMatchObject(running);
    second.live.drive();
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED" });
    expect(payloads).toEqual([input]);
  });

  it("writes an answer to disk for the next process that runs executions", async () => {
    const { first, options, tokenOf, payloads } = await resting(inRow({ Ask: asks, After: works }));
    const second = await reopened(first, { ...options, drives: false });
    await second.client.send(succeed(tokenOf(input)));
    expect(await standing(second)).toMatchObject(running);
    expect(payloads).toHaveLength(1);
    const third = await reopened(second, { ...options, drives: false });
    expect(third.interrupted).toEqual([]);
    const fourth = await reopened(third, options);
    expect(await standing(fourth)).toMatchObject({ status: "SUCCEEDED", output: '"yes"' });
  });
});

describe("a Lambda function of an execution that a process has continued", () => {
  it("is not started a second time if the process dies while the function runs", async () => {
    const { first, options, tokenOf } = await resting(inRow({ Ask: asks, Hang: works }));
    const second = await reopened(first, { ...options, drives: false });
    await second.client.send(succeed(tokenOf(input)));
    const { called, invokeLambda } = heldLambda();
    const third = await reopened(second, { ...options, invokeLambda });
    await called;
    expect((await reopened(third)).interrupted).toEqual(["one"]);
  });
});

describe("a process that is about to close", () => {
  it("starts no work that becomes due while the process closes", async () => {
    const { first, clock, options, payloads } = await resting(inRow({ Wait: waits(10), After: works }));
    await first.live.rest();
    clock.pass(10);
    expect(await standing(first)).toMatchObject(running);
    expect(payloads).toEqual([]);
    expect(await standing(await reopened(first, options))).toMatchObject({ status: "SUCCEEDED" });
  });
});
