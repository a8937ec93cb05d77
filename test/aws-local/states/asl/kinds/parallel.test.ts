import { describe, expect, it } from "vitest";
import { type echo, FUNCTION, failure, outline, runState, scripted } from "../../support/run.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const branch = (name: string, state: object) => ({ StartAt: name, States: { [name]: { ...state, End: true } } });
const pass = (name: string, fields: object = {}) => branch(name, { Type: "Pass", ...fields });
const fail = { StartAt: "F", States: { F: { Type: "Fail", Error: "FailureType", Cause: "Cause description" } } };
const task = (name: string) => branch(name, { Type: "Task", Resource: FUNCTION });

describe("a Parallel state", () => {
  it("gives every branch its own copy of the input and lists their outputs in order", async () => {
    const branches = [
      {
        StartAt: "W",
        States: {
          W: { Type: "Wait", Seconds: 5, Next: "A" },
          A: { Type: "Pass", Result: 1, ResultPath: "$.a", End: true },
        },
      },
      pass("B", { Result: 2, ResultPath: "$.b" }),
    ];
    const result = await runState({ Type: "Parallel", Branches: branches, ResultPath: "$.both" }, { x: 0 });
    expect(result.output).toEqual({
      x: 0,
      both: [
        { x: 0, a: 1 },
        { x: 0, b: 2 },
      ],
    });
  });

  it("records its start, then the events of all branches, and finally its exit", async () => {
    const result = await runState({ Type: "Parallel", Branches: [pass("A"), pass("B")] }, {});
    expect(outline(result)).toEqual([
      "1<0 ExecutionStarted",
      "2<0 ParallelStateEntered",
      "3<2 ParallelStateStarted",
      "4<3 PassStateEntered",
      "5<3 PassStateEntered",
      "6<4 PassStateExited",
      "7<5 PassStateExited",
      "8<7 ParallelStateSucceeded",
      "9<7 ParallelStateExited",
      "10<9 ExecutionSucceeded",
    ]);
  });

  it("passes its Parameters to its branches", async () => {
    const fields = { Parameters: { "n.$": "$.a" } };
    const result = await runState({ Type: "Parallel", Branches: [pass("A"), pass("B")], ...fields }, { a: 5 });
    expect(result.output).toEqual([{ n: 5 }, { n: 5 }]);
  });

  it("fails with the error of the branch that failed first, and aborts the other branches", async () => {
    const slow = branch("W", { Type: "Wait", Seconds: 3600 });
    const clock = virtualClock();
    const result = await runState({ Type: "Parallel", Branches: [slow, fail] }, {}, { clock });
    expect(result).toMatchObject({ status: "FAILED", error: "FailureType", cause: "Cause description" });
    expect(outline(result).slice(3)).toEqual([
      "4<3 WaitStateEntered",
      "5<3 FailStateEntered",
      "6<5 WaitStateAborted",
      "7<5 ParallelStateFailed",
      "8<7 ExecutionFailed",
    ]);
    expect(clock.now()).toBe(virtualClock().now());
  });

  it("passes the error of a branch to its own Catch", async () => {
    const fields = { Catch: [{ ErrorEquals: ["FailureType"], ResultPath: "$.error", Next: "Caught" }] };
    const more = { Caught: { Type: "Succeed" } };
    const result = await runState({ Type: "Parallel", Branches: [fail], ...fields }, { x: 1 }, { more });
    expect(result.output).toEqual({ x: 1, error: { Error: "FailureType", Cause: "Cause description" } });
    expect(outline(result).slice(3, 6)).toEqual([
      "4<3 FailStateEntered",
      "5<4 ParallelStateFailed",
      "6<5 ParallelStateExited",
    ]);
  });

  it("starts all branches again on a Retry, and records a failure only after the last attempt", async () => {
    const fields = { Retry: [{ ErrorEquals: ["FailureType"], MaxAttempts: 2 }] };
    const result = await runState({ Type: "Parallel", Branches: [fail], ...fields }, {});
    expect(outline(result).slice(2)).toEqual([
      "3<2 ParallelStateStarted",
      "4<3 FailStateEntered",
      "5<4 ParallelStateStarted",
      "6<5 FailStateEntered",
      "7<6 ParallelStateStarted",
      "8<7 FailStateEntered",
      "9<8 ParallelStateFailed",
      "10<9 ExecutionFailed",
    ]);
  });

  it("ignores the result of a task that ends after another branch has failed", async () => {
    let answered = () => {};
    const late = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const invokeLambda: typeof echo = async (_arn, payload) => {
      await late;
      return { ok: true, payload };
    };
    const result = await runState({ Type: "Parallel", Branches: [task("T"), fail] }, {}, { invokeLambda });
    const types = result.events.map((event) => event.type);
    answered();
    await late;
    expect(types).toContain("TaskStateAborted");
    expect(result.events.map((event) => event.type)).toEqual(types);
  });

  it("records a failed task inside a branch as failed and then as aborted, as AWS does", async () => {
    const { invokeLambda } = scripted(failure("Broken"));
    const result = await runState({ Type: "Parallel", Branches: [task("T")] }, {}, { invokeLambda });
    expect(outline(result).slice(-4)).toEqual([
      "7<6 LambdaFunctionFailed",
      "8<7 TaskStateAborted",
      "9<7 ParallelStateFailed",
      "10<9 ExecutionFailed",
    ]);
  });
});
