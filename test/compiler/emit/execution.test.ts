import { toMachine, toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { compileStateMachine } from "../../../packages/aws-local/src/states/asl/compile.ts";
import { aslErrors } from "../support/asl-validator.ts";
import { allStates, catches, stateOf, taskOf } from "../support/states.ts";
import { action, approval, body, decision, end, map, start, workflow } from "../support/workflows.ts";

/** start, a, d (again to a, `max` times), e (again to b, once), ask (rejected: again to a), end. */
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

describe("a workflow whose loops fit into one history", () => {
  it("compiles without the states of a further execution", () => {
    const { stateMachine, history } = toMachine(looping(20));
    expect(history).toBeUndefined();
    expect(stateMachine.StartAt).toBe("start");
    expect(Object.keys(stateMachine.States).filter((name) => /begin|continue/.test(name))).toEqual([]);
    expect(stateOf(stateMachine, "d.branch", "Choice").Choices).toHaveLength(1);
  });
});

describe("a workflow whose loops need more", () => {
  const { stateMachine: machine, history } = toMachine(looping(1000));

  it("starts at the state in its input, or else at its start", () => {
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
  ])("checks in %s for a further execution before the decision", (name, place) => {
    const rule = { Variable: "$.continuation", IsPresent: true, Next: "execution.continue" };
    expect(stateOf(machine, name, "Choice").Choices[place]).toEqual(rule);
  });

  it("runs itself again and ends with the same status", () => {
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

  it("has the number of events of every entry", () => {
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

it("keeps loops of branches and items in one history", () => {
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
