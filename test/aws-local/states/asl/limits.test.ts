import { describe, expect, it } from "vitest";
import { DATA_LIMIT_BYTES } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { HISTORY_LIMIT } from "../../../../packages/aws-local/src/states/history.ts";
import { answer, echo, FUNCTION, failure, noLambda, outline, runState, scripted } from "../support/run.ts";
import { runStateMachine } from "../support/run-state-machine.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const task = { Type: "Task", Resource: FUNCTION };
/** A string whose JSON has exactly this number of bytes. */
const text = (bytes: number, character = "x") => character.repeat((bytes - 2) / Buffer.byteLength(character));

describe("the limit of 256 KiB for inputs and outputs of states", () => {
  it.each(["x", "é", "€"])("counts the UTF-8 bytes of the character %s", async (character) => {
    const size = Buffer.byteLength(character);
    const fits = DATA_LIMIT_BYTES - ((DATA_LIMIT_BYTES - 2) % size);
    const run = (bytes: number) => runState(task, {}, { invokeLambda: async () => answer(text(bytes, character)) });
    expect((await run(fits)).status).toBe("SUCCEEDED");
    expect(await run(fits + size)).toMatchObject({
      status: "FAILED",
      error: "States.DataLimitExceeded",
      cause: `The state/task '${FUNCTION}' returned a result with a size exceeding the maximum number of bytes service limit.`,
    });
  });

  it.each<[string, object, unknown]>([
    ["a Pass state's output", { Type: "Pass", Result: text(200_000), ResultPath: "$.b" }, { a: text(200_000) }],
    ["a task's input", { ...task, Parameters: { "a.$": "$", "b.$": "$" } }, text(200_000)],
    ["an input with the added result of a task", { ...task, ResultPath: "$.b" }, { a: text(200_000) }],
  ])("holds for %s, and ends the execution even if the state has a Catch", async (_name, state, input) => {
    const caught = { Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }] };
    const guarded = (state as { Type: string }).Type === "Task" ? { ...state, ...caught } : state;
    const more = guarded === state ? {} : { Caught: { Type: "Succeed" } };
    const result = await runState(guarded, input, { invokeLambda: echo, more });
    expect(result).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
    expect(result.cause).toContain("'S' returned a result");
  });
});

it("the limit of 256 KiB also applies to an input to which a Catch has added an error", async () => {
  const input = { a: text(DATA_LIMIT_BYTES - 20) };
  const state = {
    ...task,
    Parameters: {},
    Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.e", Next: "Caught" }],
  };
  const { invokeLambda } = scripted(failure("Broken"));
  const result = await runState(state, input, { invokeLambda, more: { Caught: { Type: "Succeed" } } });
  expect(result).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
});

const again = { Variable: "$", IsPresent: true, Next: "A" };
const loop = {
  StartAt: "A",
  States: { A: { Type: "Choice", Choices: [again], Default: "B" }, B: { Type: "Succeed" } },
};

describe("an execution of the local Step Functions", () => {
  it("fails when its history gets its 25,000th event", async () => {
    const result = await runStateMachine(loop, {}, { invokeLambda: noLambda, clock: virtualClock() });
    expect(result.events).toHaveLength(HISTORY_LIMIT);
    expect(result).toMatchObject({ status: "FAILED", error: "States.Runtime" });
    expect(result.cause).toContain("maximum number of history events (25000)");
    expect(result.events.at(-1)).toMatchObject({ id: HISTORY_LIMIT, type: "ExecutionFailed" });
  });

  it("ends as TIMED_OUT after the state machine's TimeoutSeconds, even if its state has a Catch", async () => {
    const clock = virtualClock();
    const state = { ...task, Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }], End: true };
    const definition = { StartAt: "S", TimeoutSeconds: 60, States: { S: state, Caught: { Type: "Succeed" } } };
    const result = await runStateMachine(definition, {}, { invokeLambda: () => new Promise(() => {}), clock });
    expect([result.status, result.error, result.cause]).toEqual(["TIMED_OUT", undefined, undefined]);
    expect(outline(result).at(-1)).toBe("5<0 ExecutionTimedOut");
    expect(clock.now() - virtualClock().now()).toBe(60_000);
  });

  it("ends when it is stopped inside a Parallel, because Retry and Catch do not handle a stop", async () => {
    const stop = new AbortController();
    const invokeLambda: typeof echo = () => new Promise(() => setImmediate(() => stop.abort()));
    const handling = {
      Retry: [{ ErrorEquals: ["States.ALL"] }],
      Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }],
    };
    const branch = { StartAt: "T", States: { T: { ...task, End: true } } };
    const more = { Caught: { Type: "Succeed" } };
    const state = { Type: "Parallel", Branches: [branch], ...handling };
    const result = await runState(state, {}, { invokeLambda, signal: stop.signal, more });
    expect(result.status).toBe("ABORTED");
    expect(result.events.map(({ type }) => type).slice(-2)).toEqual(["LambdaFunctionStarted", "ExecutionAborted"]);
  });

  it("ends as ABORTED when it is stopped, and its running Lambda function is aborted", async () => {
    const stop = new AbortController();
    let told = false;
    const invokeLambda: typeof echo = (_arn, _payload, signal) =>
      new Promise(() => {
        signal?.addEventListener("abort", () => {
          told = true;
        });
        setImmediate(() => stop.abort());
      });
    const result = await runState(task, {}, { invokeLambda, signal: stop.signal });
    expect(result.status).toBe("ABORTED");
    expect(told).toBe(true);
    expect(outline(result).at(-1)).toBe("5<0 ExecutionAborted");
  });
});
