import { type State, type StateMachine, type TaskState, toMachine, toStateMachine } from "@nova/compiler";
import { type Executor, type Retry, runErrors } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { compileStateMachine } from "../../../packages/aws-local/src/states/asl/compile.ts";
import { allStates, aslErrors, catches, stateOf, taskOf } from "../support/states.ts";
import { action, approval, body, chainOf, decision, end, map, start, workflow } from "../support/workflows.ts";

const functions = {
  runNode: arn("run"),
  settleNode: arn("settle"),
  closeExecution: arn("close"),
  requestApproval: arn("request"),
};
const compile = (...args: Parameters<typeof workflow>) => toStateMachine(workflow(...args), { functions });

const line = compile([start(), action("work"), end()], ["start -> work", "work -> end"]);
const guarded = compile(
  [start(), action("work", { onError: "rescue" }), action("rescue"), end()],
  ["start -> work", "work -> end", "rescue -> end"],
);
const branching = compile(
  [start(), decision("big", { onError: "low" }), action("high"), action("low"), end()],
  ["start -> big", "big -> high : true", 'big -> low : "default"', "high -> end", "low -> end"],
);

function machineOf(retry: object) {
  const work = action("work", { retry: retry as Retry });
  return compile([start(), work, end()], ["start -> work", "work -> end"]);
}

describe("the state machine of a workflow", () => {
  it.each([
    ["with actions in a row", line],
    ["with an onError", guarded],
    ["with a decision", branching],
    [
      "with a decision that has only a default edge",
      compile([start(), decision("d"), end()], ["start -> d", "d -> end"]),
    ],
    ["with nothing but start and end", compile([start(), end()], ["start -> end"])],
    ["with a retry", machineOf({ attempts: 5, delaySeconds: 2, backoff: 2, jitter: true })],
    [
      "with a node that waits for the time in Retry-After",
      machineOf({ attempts: 5, delaySeconds: 2, backoff: 2, maxDelaySeconds: 60, jitter: true }),
    ],
    ["with a thousand nodes", toStateMachine(chainOf(1000))],
  ])("%s is accepted by asl-validator", async (_, machine) => {
    expect(await aslErrors(machine)).toBe("");
  });

  it("names the states of nodes by their ids, and all other states by names that no node can have", () => {
    expect(Object.keys(branching.States)).toEqual([
      ...["start", "big", "big.branch", "big.settle", "big.settled", "high", "low", "end"],
      ...["execution.close", "execution.failed", "execution.closed"],
    ]);
    expect(branching.StartAt).toBe("start");
  });

  it("has the description of the workflow and of each node as a comment, or the name if there is no description", () => {
    const described = compile(
      [start(), action("a", { name: "A", description: "Does a." }), action("b", { name: "B" }), end()],
      ["start -> a", "a -> b", "b -> end"],
      { description: "All of it.", timeoutSeconds: 3600 },
    );
    expect([described.Comment, comment(described, "a"), comment(described, "b"), comment(described, "end")]) //
      .toEqual(["All of it.", "Does a.", "B", undefined]);
    expect(described.TimeoutSeconds).toBe(3600);
    expect([line.Comment, line.TimeoutSeconds]).toEqual(["Sample", undefined]);
  });
});

describe("the Step Functions task of a node", () => {
  it("passes to its Lambda the node and the position of the run, and nothing else", () => {
    expect(task(line, "work")).toMatchObject({
      Resource: functions.runNode,
      TimeoutSeconds: 900,
      Parameters: { node: "work", "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" },
      Next: "end",
    });
    expect(task(line, "work")).not.toHaveProperty("ResultPath");
  });

  it("is the same whether a person or a model writes the code", () => {
    const executor: Executor = { kind: "prompt", prompt: "Do it.", samples: true, allow: [] };
    const written = compile([start(), action("work", { executor }), end()], ["start -> work", "work -> end"]);
    expect(written.States).toEqual(line.States);
  });

  it("never retries errors with the policy `never`, and has a rule for every other error of runs before the rule for States.ALL", () => {
    const retry = task(line, "work").Retry;
    const never = Object.entries(runErrors).filter(([, error]) => error.retry === "never");
    const ours = Object.keys(runErrors).filter((name) => name !== "NodeRetry");
    expect(retry[0]).toEqual({ ErrorEquals: never.map(([name]) => name), MaxAttempts: 0 });
    expect(
      retry
        .slice(0, -1)
        .flatMap((one) => one.ErrorEquals)
        .sort(),
    ).toEqual(ours.sort());
    expect(retry.at(-1)?.ErrorEquals).toEqual(["States.ALL"]);
  });

  it("has the node's own retry before all other retries", () => {
    const waits = (retry: object) => task(machineOf(retry), "work").Retry[0];
    const named = { ErrorEquals: ["NodeRetry"] };
    expect(waits({ attempts: 5, delaySeconds: 2, backoff: 2, maxDelaySeconds: 60, jitter: true })).toEqual({
      ...named,
      IntervalSeconds: 2,
      MaxAttempts: 4,
      BackoffRate: 2,
      MaxDelaySeconds: 60,
      JitterStrategy: "FULL",
    });
    expect(waits({ attempts: 2, delaySeconds: 0 })).toEqual({
      ...named,
      IntervalSeconds: 1,
      MaxAttempts: 1,
      BackoffRate: 1,
    });
    expect(waits({ attempts: 3, delaySeconds: 90, backoff: 3, maxDelaySeconds: 60 })).toMatchObject({
      IntervalSeconds: 60,
    });
    expect(waits({ attempts: 1, delaySeconds: 1 })?.ErrorEquals).not.toContain("NodeRetry");
  });

  it.each([
    ["work", line, "execution.close"],
    ["end", line, "execution.close"],
    ["work", guarded, "work.settle"],
    ["work.settle", guarded, "execution.close"],
    ["big", branching, "big.settle"],
  ])("catches in the state %s first the error of a closed run and then every other error", (name, machine, next) => {
    expect(task(machine, name).Catch).toEqual([
      { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: "execution.closed" },
      { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
    ]);
  });

  it("ends the execution with the result of its Lambda if the node is an end node", () => {
    expect(task(line, "end")).toMatchObject({ Resource: functions.runNode, End: true });
    expect(task(line, "end")).not.toHaveProperty("Next");
  });
});

describe("the onError of a node", () => {
  it("is followed only if the settle task finds a failure in the chain", () => {
    expect(task(guarded, "work.settle")).toMatchObject({
      Resource: functions.settleNode,
      Parameters: {
        node: "work",
        "execution.$": "$.execution",
        "scope.$": "$.scope",
        "seq.$": "$.seq",
        "error.$": "$.error",
      },
      Next: "work.settled",
    });
    expect(guarded.States["work.settled"]).toEqual({
      Type: "Choice",
      Choices: [{ Variable: "$.failed", BooleanEquals: true, Next: "rescue" }],
      Default: "end",
    });
  });

  it("is not followed if a decision's task failed after its entry was written, because the run follows the entry", () => {
    expect(branching.States["big.settled"]).toEqual({
      Type: "Choice",
      Choices: [
        { Variable: "$.failed", BooleanEquals: true, Next: "low" },
        { Variable: "$.decision", StringEquals: "true", Next: "high" },
      ],
      Default: "low",
    });
  });
});

describe("the Choice state of a decision", () => {
  it("has rules that compare texts, in which strings are unchanged, and booleans and numbers are written as JSON", () => {
    const ends = ["a", "b", "c", "d", "e"].map(end);
    const machine = compile(
      [start(), decision("d0"), ...ends],
      [
        ...["start -> d0", 'd0 -> a : "Yes sir"', "d0 -> b : true"],
        ...["d0 -> c : 1e21", "d0 -> d : 0.5", "d0 -> e : 42.0"],
      ],
    );
    expect(machine.States["d0.branch"]).toMatchObject({
      Choices: ["Yes sir", "true", "1e+21", "0.5", "42"].map((text) => ({ StringEquals: text })),
      Default: "execution.close",
    });
  });

  it("has a rule even if the decision has only a default edge, because every Choice requires a rule", () => {
    const machine = compile([start(), decision("d"), end()], ["start -> d", 'd -> end : "default"']);
    expect(machine.States["d.branch"]).toEqual({
      Type: "Choice",
      Choices: [{ Variable: "$.decision", StringEquals: "default", Next: "end" }],
      Default: "end",
    });
  });
});

describe("the close of a failed run", () => {
  it("passes its whole input to its Lambda, and then fails with the error that the Lambda returns", () => {
    expect(task(line, "execution.close")).toMatchObject({
      Resource: functions.closeExecution,
      Next: "execution.failed",
    });
    expect(task(line, "execution.close")).not.toHaveProperty("Parameters");
    expect(line.States["execution.failed"]).toEqual({
      Type: "Fail",
      ErrorPath: "$.error.Error",
      CausePath: "$.error.Cause",
    });
    expect(line.States["execution.closed"]).toMatchObject({ Type: "Fail", Error: "ExecutionClosed" });
  });
});

function arn(name: string): string {
  return `arn:aws:lambda:eu-central-1:123456789012:function:${name}:live`;
}

function task(machine: StateMachine, name: string): TaskState {
  const state = machine.States[name] as State;
  expect(state.Type).toBe("Task");
  return state as TaskState;
}

function comment(machine: StateMachine, name: string): string | undefined {
  return (machine.States[name] as TaskState).Comment;
}

const long = { timeoutSeconds: 3_600 };
const item = map("m", body([action("i", long)], []));
const machine = toStateMachine(
  workflow(
    [start(), action("a", long), action("short", { timeoutSeconds: 840 }), decision("d", long), item, end()],
    ["start -> a", "a -> short", "short -> d", "d -> m : true", "d -> end : false", "m -> end"],
  ),
);

it("the task of a node with a long timeout is repeated after each pause while the code runs", async () => {
  expect(taskOf(machine, "a")).toMatchObject({ Next: "a.running", TimeoutSeconds: 900 });
  expect(stateOf(machine, "a.running", "Choice")).toEqual({
    Type: "Choice",
    Choices: [{ Variable: "$.running", IsPresent: true, Next: "a.pause" }],
    Default: "short",
  });
  expect(stateOf(machine, "a.pause", "Wait")).toEqual({ Type: "Wait", SecondsPath: "$.pause", Next: "a" });
  expect(await aslErrors(machine)).toBe("");
});

it("after the last check of long code, a decision continues with its Choice state, and the last node of an item with the end of the item", () => {
  expect(stateOf(machine, "d.running", "Choice").Default).toBe("d.branch");
  expect(taskOf(machine, "i").Next).toBe("i.running");
  expect(stateOf(machine, "i.running", "Choice").Default).toBe("m.item.done");
});

it("a node with a timeout of 840 seconds is one task, without repeated checks", () => {
  expect(taskOf(machine, "short").Next).toBe("d");
});

/**
 * The nodes `start`, `a`, `d`, `b`, `e`, `ask` and `end` in a row. Loops lead from `d` back to `a` at most `max` times,
 * from `e` to `b` at most once, and for the answer "no" from `ask` to `a` at most twice.
 */
const looping = (max: number) =>
  workflow(
    [
      start(),
      action("a"),
      decision("d", { onError: "b" }),
      action("b"),
      decision("e"),
      approval("ask", ["yes", "no"]),
      end(),
    ],
    [
      ...["start -> a", "a -> d", `d -> a : "again", max ${max}`, 'd -> b : "default"', "b -> e"],
      ...["e -> b : true, max 1", 'e -> ask : "default"', 'ask -> a : "no", max 2', 'ask -> end : "default"'],
    ],
  );

describe("a workflow whose loops fit into one history of Step Functions", () => {
  it("compiles without the states that start a further execution", () => {
    const { stateMachine, history } = toMachine(looping(20));
    expect(history).toBeUndefined();
    expect(stateMachine.StartAt).toBe("start");
    expect(Object.keys(stateMachine.States).filter((name) => /begin|continue/.test(name))).toEqual([]);
    expect(stateOf(stateMachine, "d.branch", "Choice").Choices).toHaveLength(1);
  });
});

describe("the state machine of a workflow whose loops exceed one history of Step Functions", () => {
  const { stateMachine: machine, history } = toMachine(looping(1000));

  it("starts at the node that its input names, or at the start node if the input names no node", () => {
    expect(machine.StartAt).toBe("execution.begin");
    const { Choices, Default } = stateOf(machine, "execution.begin", "Choice");
    expect(Default).toBe("start");
    const resuming = (target: string) => ({
      And: [
        { Variable: "$.resume", IsPresent: true },
        { Variable: "$.resume", StringEquals: target },
      ],
      Next: target,
    });
    expect(Choices).toEqual([resuming("a"), resuming("b")]);
  });

  it.each([
    ["d.branch", 0],
    ["d.settled", 1],
    ["e.branch", 0],
    ["ask.branch", 0],
    ["ask.settled", 1],
  ])(
    "tests in the state %s first whether a further execution must start, and then which edge the decision takes",
    (name, place) => {
      const rule = { Variable: "$.continuation", IsPresent: true, Next: "execution.continue" };
      expect(stateOf(machine, name, "Choice").Choices[place]).toEqual(rule);
    },
  );

  it("starts itself again as a further execution, and ends with the status of that execution", () => {
    const task = taskOf(machine, "execution.continue");
    expect(task).toMatchObject({
      Resource: "arn:aws:states:::states:startExecution.sync:2",
      Parameters: {
        "StateMachineArn.$": "$.continuation.arn",
        "Name.$": "$.continuation.name",
        "Input.$": "$.continuation.input",
      },
      End: true,
      OutputPath: "$.Output",
    });
    expect(catches(task)).toEqual({ "States.ALL": "execution.close" });
    expect(task.Retry[0]).toEqual({ ErrorEquals: ["StepFunctions.ExecutionAlreadyExistsException"], MaxAttempts: 0 });
  });

  it("is compiled with the number of history events of every entry", () => {
    expect(history).toMatchObject({ begun: 6, settled: 7 });
    expect(history?.entries).toMatchObject({ a: { own: 5 }, d: { own: 7 }, e: { own: 7 }, ask: { own: 13 } });
    expect(history?.most).toBeGreaterThan(19_000);
    expect(history?.most).toBeLessThanOrEqual(20_000);
  });

  it("is accepted by asl-validator and by the local Step Functions", async () => {
    expect(await aslErrors(machine)).toBe("");
    expect(() => compileStateMachine(JSON.parse(JSON.stringify(machine)))).not.toThrow();
  });
});

it("loops in branches and map items never continue in a further execution", () => {
  const each = body(
    [action("i"), decision("x"), end("done")],
    ["i -> x", 'x -> i : "again", max 3', 'x -> done : "default"'],
  );
  const whole = workflow([start(), map("m", each), end()], ["start -> m", "m -> end"]);
  expect(toMachine(whole, { historyEvents: 0 }).history).toBeUndefined();
  const rules = Object.values(allStates(toStateMachine(whole, { historyEvents: 0 }))).flatMap((state) =>
    state.Type === "Choice" ? state.Choices : [],
  );
  expect(JSON.stringify(rules)).not.toContain("continuation");
});
