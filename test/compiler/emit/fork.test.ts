import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { allStates, catches, parallelOf, stateOf, taskOf } from "../support/states.ts";
import { action, decision, end, start, workflow } from "../support/workflows.ts";

const fork = toStateMachine(
  workflow(
    [start(), action("f"), action("a", { onError: "b" }), action("b"), decision("d"), action("join"), end()],
    ["start -> f", "f -> a", "f -> d", "a -> b", "b -> join", "d -> join : true", "join -> end"],
  ),
);

describe("a fork", () => {
  it("runs its branches in parallel, then joins them, also after a failure", () => {
    expect(taskOf(fork, "f").Next).toBe("f.fork");
    expect(parallelOf(fork, "f.fork")).toMatchObject({ ResultPath: null, Next: "f.join" });
    expect(catches(parallelOf(fork, "f.fork"))).toEqual({
      ExecutionClosed: "execution.closed",
      "States.ALL": "f.join",
    });
    expect(taskOf(fork, "f.join")).toMatchObject({ Parameters: { join: "f", "at.$": "$" }, Next: "f.joined" });
    expect(catches(taskOf(fork, "f.join"))).toEqual({
      ExecutionClosed: "execution.closed",
      "States.ALL": "execution.close",
    });
    expect(stateOf(fork, "f.joined", "Choice")).toEqual({
      Type: "Choice",
      Choices: [{ Variable: "$.failed", BooleanEquals: true, Next: "execution.close" }],
      Default: "join",
    });
  });

  it("gives every branch its own scope, which starts at link 0", () => {
    const [first, second] = parallelOf(fork, "f.fork").Branches;
    expect([first?.StartAt, second?.StartAt]).toEqual(["f.fork.a", "f.fork.d"]);
    expect(first?.States["f.fork.a"]).toEqual({
      Type: "Pass",
      Parameters: {
        "execution.$": "$.execution",
        "scope.$": "States.Format('{}/f@{}.a', $.scope, $.seq)",
        seq: 0,
      },
      Next: "a",
    });
  });

  it("settles every node of a branch, and fails the branch with its node", () => {
    expect(catches(taskOf(fork, "b"))).toEqual({ ExecutionClosed: "f.fork.a.closed", "States.ALL": "b.settle" });
    expect(catches(taskOf(fork, "b.settle"))["States.ALL"]).toBe("f.fork.a.failed");
    expect(stateOf(fork, "b.settled", "Choice").Choices[0].Next).toBe("f.fork.a.failed");
    expect(stateOf(fork, "a.settled", "Choice").Choices[0].Next).toBe("b");
    const failed = { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" };
    expect(stateOf(fork, "f.fork.a.failed", "Fail")).toEqual(failed);
  });

  it("ends a branch without a result, in a separate state if a Choice needs one", () => {
    expect(taskOf(fork, "b")).toMatchObject({ End: true, OutputPath: null });
    expect(stateOf(fork, "f.fork.d.done", "Pass")).toEqual({ Type: "Pass", End: true, OutputPath: null });
    expect(stateOf(fork, "d.branch", "Choice").Choices[0].Next).toBe("f.fork.d.done");
  });

  it("fails a branch whose decision has no edge without reading a missing error", () => {
    expect(stateOf(fork, "d.branch", "Choice").Default).toBe("f.fork.d.unfit");
    expect(stateOf(fork, "f.fork.d.unfit", "Fail")).toMatchObject({ Error: "NodeFailed" });
  });

  it("has names that Step Functions accepts, even for the longest ids", () => {
    const [f, a, b] = ["f", "a", "b"].map((letter) => letter.repeat(64)) as [string, string, string];
    const long = toStateMachine(
      workflow(
        [start(), action(f), action(a), decision(b), action("join"), end()],
        ["start -> f", "f -> a", "f -> b", "a -> join", "b -> join : true", "join -> end"].map((one) =>
          one.replace(/\b[fab]\b/g, (letter) => letter.repeat(64)),
        ),
      ),
    );
    expect(Math.max(...Object.keys(allStates(long)).map((name) => name.length))).toBeLessThanOrEqual(80);
  });
});
