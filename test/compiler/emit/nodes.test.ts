import { localFunctions, toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { catches, stateOf, taskOf } from "../support/states.ts";
import {
  action,
  approval,
  body,
  childNode,
  end,
  eventNode,
  map,
  start,
  untilNode,
  workflow,
} from "../support/workflows.ts";

const position = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };
const asking = toStateMachine(
  workflow(
    [start(), approval("ask", ["yes", "no"], { timeoutSeconds: 86_400 }), end("paid"), end("left")],
    ["start -> ask", 'ask -> paid : "yes"', 'ask -> left : "no"', 'ask -> left : "timeout"'],
  ),
);
const waiting = toStateMachine(
  workflow(
    [start(), untilNode("pause"), eventNode("order", { onError: "late" }), action("late"), end()],
    ["start -> pause", "pause -> order", "order -> end", "late -> end"],
  ),
);

describe("the state machine of an approval", () => {
  it("passes its task token to a Lambda that stores it, and waits at most for the timeout in the definition", () => {
    expect(taskOf(asking, "ask")).toMatchObject({
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: {
        FunctionName: localFunctions.requestApproval,
        Payload: { node: "ask", ...position, "token.$": "$$.Task.Token" },
      },
      TimeoutSeconds: 86_400,
      Next: "ask.branch",
    });
  });

  it("reads the answer from the chain after the timeout, and does not request the approval a second time", () => {
    const [never] = taskOf(asking, "ask").Retry;
    expect(never).toMatchObject({ MaxAttempts: 0, ErrorEquals: expect.arrayContaining(["States.Timeout"]) });
    expect(catches(taskOf(asking, "ask"))).toEqual({
      ExecutionClosed: "execution.closed",
      "States.Timeout": "ask.expired",
      "States.ALL": "execution.close",
    });
    expect(taskOf(asking, "ask.expired")).toMatchObject({
      Resource: localFunctions.settleNode,
      Parameters: { node: "ask", expired: true, ...position },
      Next: "ask.settled",
    });
  });

  it("continues along the edge of the choice that the task or a settle task returns", () => {
    const rules = [
      { Variable: "$.decision", StringEquals: "yes", Next: "paid" },
      { Variable: "$.decision", StringEquals: "no", Next: "left" },
      { Variable: "$.decision", StringEquals: "timeout", Next: "left" },
    ];
    expect(stateOf(asking, "ask.branch", "Choice").Choices).toEqual(rules);
    const failed = { Variable: "$.failed", BooleanEquals: true, Next: "execution.close" };
    expect(stateOf(asking, "ask.settled", "Choice").Choices).toEqual([failed, ...rules]);
  });
});

describe("the state machine of a wait", () => {
  it("waits in a Wait state between two Lambda calls, which compute the end of the wait and write the entry, if the wait is for a time", () => {
    expect(taskOf(waiting, "pause")).toMatchObject({ Parameters: { node: "pause", ...position }, Next: "pause.wait" });
    expect(stateOf(waiting, "pause.wait", "Wait")).toEqual({
      Type: "Wait",
      TimestampPath: "$.until",
      Next: "pause.waited",
    });
    expect(taskOf(waiting, "pause.waited")).toMatchObject({
      Resource: localFunctions.runNode,
      Parameters: { node: "pause", ...position, waited: true },
      Next: "order",
    });
  });

  it("waits with a task token if the wait is for an event, and fails after its timeout", () => {
    expect(taskOf(waiting, "order")).toMatchObject({ TimeoutSeconds: 3600, Next: "end" });
    expect(catches(taskOf(waiting, "order"))).toMatchObject({
      "States.Timeout": "order.expired",
      "States.ALL": "order.settle",
    });
    expect(stateOf(waiting, "order.settled", "Choice")).toMatchObject({ Choices: [{ Next: "late" }], Default: "end" });
  });
});

const calling = toStateMachine(
  workflow(
    [start(), childNode("bill"), childNode("rate", { onError: "late" }), action("late"), end()],
    ["start -> bill", "bill -> rate", "rate -> end", "late -> end"],
  ),
);

describe("the state machine of a workflow node", () => {
  it("names the inner execution in a first task, lets Step Functions run it, and reads its result in a last task", () => {
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

  it("reads the chain of the inner execution even if it failed, and never starts an inner execution twice", () => {
    expect(catches(taskOf(calling, "bill.run"))).toEqual({ "States.ALL": "bill.done" });
    expect(taskOf(calling, "bill.run").Retry[0]).toEqual({
      ErrorEquals: ["StepFunctions.ExecutionAlreadyExistsException"],
      MaxAttempts: 0,
    });
    expect(taskOf(calling, "bill.run")).not.toHaveProperty("TimeoutSeconds");
  });

  it("leads from a failure to the close of the run, or to the settle task and the onError node if there is an onError", () => {
    const closing = { ExecutionClosed: "execution.closed", "States.ALL": "execution.close" };
    const settling = { ...closing, "States.ALL": "rate.settle" };
    for (const name of ["bill", "bill.done"]) expect(catches(taskOf(calling, name))).toEqual(closing);
    for (const name of ["rate", "rate.done"]) expect(catches(taskOf(calling, name))).toEqual(settling);
    expect(stateOf(calling, "rate.settled", "Choice")).toMatchObject({ Choices: [{ Next: "late" }], Default: "end" });
  });

  it("ends the item of a map with an empty output if the node is the last one of the item", () => {
    const each = map("each", body([childNode("each_item")], []));
    const machine = toStateMachine(workflow([start(), each, end()], ["start -> each", "each -> end"]));
    expect(taskOf(machine, "each_item.done")).toMatchObject({ End: true, OutputPath: null });
    expect(catches(taskOf(machine, "each_item.done"))).toEqual({
      ExecutionClosed: "each.item.closed",
      "States.ALL": "each_item.settle",
    });
  });
});
