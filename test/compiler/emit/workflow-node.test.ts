import { localFunctions, toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { catches, stateOf, taskOf } from "../support/states.ts";
import { action, body, childNode, end, map, start, workflow } from "../support/workflows.ts";

const position = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };
const calling = toStateMachine(
  workflow(
    [start(), childNode("bill"), childNode("rate", { onError: "late" }), action("late"), end()],
    ["start -> bill", "bill -> rate", "rate -> end", "late -> end"],
  ),
);

describe("a workflow node", () => {
  it("names the other execution, lets Step Functions run it, and reads its result", () => {
    expect(taskOf(calling, "bill")).toMatchObject({
      Resource: localFunctions.runNode,
      Parameters: { node: "bill", ...position },
      Next: "bill.run",
    });
    expect(taskOf(calling, "bill.run")).toMatchObject({
      Resource: "arn:aws:states:::states:startExecution.sync:2",
      Parameters: { "StateMachineArn.$": "$.child.arn", "Name.$": "$.child.name", "Input.$": "$.child.input" },
      ResultPath: null,
      Next: "bill.done",
    });
    expect(taskOf(calling, "bill.done")).toMatchObject({
      Resource: localFunctions.runNode,
      Parameters: { node: "bill", waited: true, ...position },
      Next: "rate",
    });
  });

  it("reads the chain of the other execution after any end, and starts none twice", () => {
    expect(catches(taskOf(calling, "bill.run"))).toEqual({ "States.ALL": "bill.done" });
    expect(taskOf(calling, "bill.run").Retry[0]).toEqual({
      ErrorEquals: ["StepFunctions.ExecutionAlreadyExistsException"],
      MaxAttempts: 0,
    });
    expect(taskOf(calling, "bill.run")).not.toHaveProperty("TimeoutSeconds");
  });

  it("fails the run, or continues along onError after its settle", () => {
    const closing = { ExecutionClosed: "execution.closed", "States.ALL": "execution.close" };
    const settling = { ...closing, "States.ALL": "rate.settle" };
    for (const name of ["bill", "bill.done"]) expect(catches(taskOf(calling, name))).toEqual(closing);
    for (const name of ["rate", "rate.done"]) expect(catches(taskOf(calling, name))).toEqual(settling);
    expect(stateOf(calling, "rate.settled", "Choice")).toMatchObject({ Choices: [{ Next: "late" }], Default: "end" });
  });

  it("ends an item of a map, which discards the results of its states", () => {
    const each = map("each", body([childNode("each_item")], []));
    const machine = toStateMachine(workflow([start(), each, end()], ["start -> each", "each -> end"]));
    expect(taskOf(machine, "each_item.done")).toMatchObject({ End: true, OutputPath: null });
    expect(catches(taskOf(machine, "each_item.done"))).toEqual({
      ExecutionClosed: "each.item.closed",
      "States.ALL": "each_item.settle",
    });
  });
});
