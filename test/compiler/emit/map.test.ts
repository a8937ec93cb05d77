import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { catches, mapOf, parallelOf, stateOf, taskOf } from "../support/states.ts";
import { action, body, decision, end, map, start, workflow } from "../support/workflows.ts";

const items = body([action("read"), decision("ok"), end("done")], ["read -> ok", "ok -> done : true"]);
const machineOf = (extra: Parameters<typeof map>[2]) =>
  toStateMachine(
    workflow(
      [start(), map("m", items, extra), action("x"), action("y"), action("join"), end()],
      ["start -> m", "m -> x", "m -> y", "x -> join", "y -> join", "join -> end"],
    ),
  );
const machine = machineOf({ maxConcurrency: 7 });

describe("a map", () => {
  it("asks for the numbers of its items, and runs its body for each of them", () => {
    expect(taskOf(machine, "m").Next).toBe("m.each");
    expect(mapOf(machine, "m.each")).toMatchObject({
      ItemsPath: "$.items",
      ItemSelector: {
        ...{ "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" },
        "index.$": "$$.Map.Item.Value",
      },
      MaxConcurrency: 7,
      ResultPath: null,
      Next: "m.join",
    });
    expect(catches(mapOf(machine, "m.each"))).toEqual({
      ExecutionClosed: "execution.closed",
      "States.ALL": "m.join",
    });
    expect(mapOf(machine, "m.each").ItemProcessor).toMatchObject({
      ProcessorConfig: { Mode: "INLINE" },
      StartAt: "m.item",
    });
  });

  it("gives every item a scope of its own, named by its number", () => {
    expect(stateOf(machine, "m.item", "Pass")).toEqual({
      Type: "Pass",
      Parameters: {
        "execution.$": "$.execution",
        "scope.$": "States.Format('{}/m@{}.{}', $.scope, $.seq, $.index)",
        seq: 0,
      },
      Next: "read",
    });
  });

  it("has no state for the end of its body", () => {
    expect(stateOf(machine, "ok.branch", "Choice").Choices[0].Next).toBe("m.item.done");
    expect(mapOf(machine, "m.each").ItemProcessor.States).not.toHaveProperty("done");
  });

  it.each([
    [undefined, "m.item.failed"],
    [{ count: 1 }, "m.item.tolerated"],
    [{ percent: 10 }, "m.item.tolerated"],
  ])("with tolerated failures %j leads a failed item to %s", (toleratedFailures, next) => {
    const other = machineOf(toleratedFailures && { toleratedFailures });
    expect(stateOf(other, "read.settled", "Choice").Choices[0].Next).toBe(next);
    expect(catches(taskOf(other, "read.settle"))["States.ALL"]).toBe("m.item.failed");
  });

  it("that tolerates failures ends a failed item quietly, as if it were done", () => {
    const tolerant = machineOf({ toleratedFailures: { count: 1 } });
    expect(stateOf(tolerant, "m.item.tolerated", "Pass")).toEqual({ Type: "Pass", End: true, OutputPath: null });
  });

  it("goes to its onError where its own task failed, and where its join did", () => {
    const rescued = machineOf({ onError: "join" });
    expect(stateOf(rescued, "m.settled", "Choice")).toMatchObject({ Choices: [{ Next: "join" }], Default: "m.each" });
    expect(stateOf(rescued, "m.joined", "Choice").Choices[0].Next).toBe("join");
    expect(stateOf(machine, "m.joined", "Choice").Choices[0].Next).toBe("execution.close");
  });

  it("with several edges out fans out behind its join, from the join's link", () => {
    expect(stateOf(machine, "m.joined", "Choice").Default).toBe("m.join.fork");
    expect(parallelOf(machine, "m.join.fork").Next).toBe("m.join.join");
    expect(stateOf(machine, "m.join.fork.x", "Pass").Parameters).toMatchObject({
      "scope.$": "States.Format('{}/m.join@{}.x', $.scope, $.seq)",
    });
    expect(taskOf(machine, "m.join.join").Parameters).toEqual({ join: "m.join", "at.$": "$" });
  });
});
