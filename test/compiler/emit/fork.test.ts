import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { compileStateMachine } from "../../../packages/aws-local/src/states/asl/compile.ts";
import { allStates, aslErrors, catches, mapOf, parallelOf, stateOf, taskOf } from "../support/states.ts";
import { action, body, decision, end, map, start, workflow } from "../support/workflows.ts";

const fork = toStateMachine(
  workflow(
    [start(), action("f"), action("a", { onError: "b" }), action("b"), decision("d"), action("join"), end()],
    ["start -> f", "f -> a", "f -> d", "a -> b", "b -> join", "d -> join : true", "join -> end"],
  ),
);

describe("the state machine of a fork", () => {
  it("runs the branches in parallel and then the join, even if a branch failed", () => {
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

  it("gives every branch a separate scope, whose entries are numbered from 0", () => {
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

  it("settles every failed node of a branch, and then fails the branch", () => {
    expect(catches(taskOf(fork, "b"))).toEqual({ ExecutionClosed: "f.fork.a.closed", "States.ALL": "b.settle" });
    expect(catches(taskOf(fork, "b.settle"))["States.ALL"]).toBe("f.fork.a.failed");
    expect(stateOf(fork, "b.settled", "Choice").Choices[0].Next).toBe("f.fork.a.failed");
    expect(stateOf(fork, "a.settled", "Choice").Choices[0].Next).toBe("b");
    const failed = { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" };
    expect(stateOf(fork, "f.fork.a.failed", "Fail")).toEqual(failed);
  });

  it("ends every branch with an empty result, in a separate state if a Choice comes before this end", () => {
    expect(taskOf(fork, "b")).toMatchObject({ End: true, OutputPath: null });
    expect(stateOf(fork, "f.fork.d.done", "Pass")).toEqual({ Type: "Pass", End: true, OutputPath: null });
    expect(stateOf(fork, "d.branch", "Choice").Choices[0].Next).toBe("f.fork.d.done");
  });

  it("fails a branch with the error NodeFailed if a decision in it matches no edge", () => {
    expect(stateOf(fork, "d.branch", "Choice").Default).toBe("f.fork.d.unfit");
    expect(stateOf(fork, "f.fork.d.unfit", "Fail")).toMatchObject({ Error: "NodeFailed" });
  });

  it("has state names of at most 80 characters, even for the longest node ids", () => {
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

const items = body([action("read"), decision("ok"), end("done")], ["read -> ok", "ok -> done : true"]);
const machineOf = (extra: Parameters<typeof map>[2]) =>
  toStateMachine(
    workflow(
      [start(), map("m", items, extra), action("x"), action("y"), action("join"), end()],
      ["start -> m", "m -> x", "m -> y", "x -> join", "y -> join", "join -> end"],
    ),
  );
const machine = machineOf({ maxConcurrency: 7 });

describe("the state machine of a map", () => {
  it("gets the numbers of its items from its task, and runs its body for each number", () => {
    expect(taskOf(machine, "m").Next).toBe("m.size");
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

  it("gives every item a separate scope, which has the item's number as its name", () => {
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

  it("has no state for an end node in the body of the map", () => {
    expect(stateOf(machine, "ok.branch", "Choice").Choices[0].Next).toBe("m.item.done");
    expect(mapOf(machine, "m.each").ItemProcessor.States).not.toHaveProperty("done");
  });

  it.each([
    [undefined, "m.item.failed"],
    [{ count: 1 }, "m.item.tolerated"],
    [{ percent: 10 }, "m.item.tolerated"],
  ])("leads a failed item, if the tolerated failures are %j, to %s", (toleratedFailures, next) => {
    const other = machineOf(toleratedFailures && { toleratedFailures });
    expect(stateOf(other, "read.settled", "Choice").Choices[0].Next).toBe(next);
    expect(catches(taskOf(other, "read.settle"))["States.ALL"]).toBe("m.item.failed");
  });

  it("ends a failed item like a completed one if the map tolerates failures", () => {
    const tolerant = machineOf({ toleratedFailures: { count: 1 } });
    expect(stateOf(tolerant, "m.item.tolerated", "Pass")).toEqual({ Type: "Pass", End: true, OutputPath: null });
  });

  it("continues at the map's onError if its task or its join fails", () => {
    const rescued = machineOf({ onError: "join" });
    expect(stateOf(rescued, "m.settled", "Choice")).toMatchObject({ Choices: [{ Next: "join" }], Default: "m.size" });
    expect(stateOf(rescued, "m.joined", "Choice").Choices[0].Next).toBe("join");
    expect(stateOf(machine, "m.joined", "Choice").Choices[0].Next).toBe("execution.close");
  });

  it("gives each item a separate execution if the items are too many for one history", () => {
    expect(taskOf(machine, "m").Parameters).toMatchObject({ node: "m", inline_items: expect.any(Number) });
    expect(stateOf(machine, "m.size", "Choice")).toEqual({
      Type: "Choice",
      Choices: [{ Variable: "$.distributed", BooleanEquals: true, Next: "m.each.distributed" }],
      Default: "m.each",
    });
    const [own, inline] = [mapOf(machine, "m.each.distributed"), mapOf(machine, "m.each")];
    expect(own).toMatchObject({
      ItemReader: {
        Resource: "arn:aws:states:::s3:getObject",
        ReaderConfig: { InputType: "JSON" },
        Parameters: { "Bucket.$": "$.manifest.bucket", "Key.$": "$.manifest.key" },
      },
      Label: "m",
      ...{
        ItemSelector: inline.ItemSelector,
        MaxConcurrency: 7,
        ResultPath: null,
        Catch: inline.Catch,
        Next: inline.Next,
      },
    });
    expect(own.ItemProcessor.ProcessorConfig).toEqual({ Mode: "DISTRIBUTED", ExecutionType: "STANDARD" });
    expect(own.ItemProcessor.StartAt).toBe("m.item.distributed");
    const names = Object.keys(inline.ItemProcessor.States);
    expect(Object.keys(own.ItemProcessor.States)).toEqual(names.map((name) => `${name}.distributed`));
  });

  it("passes the same limit for items inside the map's execution to the task of the map and to its settle task", () => {
    const [task, settle] = [
      taskOf(machineOf({ onError: "join" }), "m"),
      taskOf(machineOf({ onError: "join" }), "m.settle"),
    ];
    expect(settle.Parameters).toMatchObject({ inline_items: task.Parameters?.inline_items });
  });

  it("runs the items inside its own execution if the map is in the body of another map", () => {
    const outer = workflow([start(), map("o", body([map("m", items)], [])), end()], ["start -> o", "o -> end"]);
    const nested = toStateMachine(outer);
    expect(taskOf(nested, "m")).toMatchObject({ Next: "m.each", Parameters: { node: "m" } });
    expect(taskOf(nested, "m").Parameters).not.toHaveProperty("inline_items");
    expect(taskOf(nested, "o").Parameters).not.toHaveProperty("most_items");
    const most = Number(taskOf(nested, "m").Parameters?.most_items);
    // An item of one node takes between 10 and 25 of the 20,000 events that the items may use.
    expect([most > 800, most < 2_000]).toEqual([true, true]);
    expect(mapOf(nested, "m.each.distributed").ItemProcessor.ProcessorConfig.Mode).toBe("INLINE");
  });

  it("has only unique state names that Step Functions accepts, even for the longest node ids", async () => {
    const id = (letter: string) => letter.repeat(64);
    const [f, x, y, j] = ["f", "x", "y", "j"].map(id) as [string, string, string, string];
    const forked = body(
      [action(f), action(x), action(y), action(j)],
      [`${f} -> ${x}`, `${f} -> ${y}`, `${x} -> ${j}`, `${y} -> ${j}`],
    );
    const long = workflow([start(), map(id("m"), forked), end()], [`start -> ${id("m")}`, `${id("m")} -> end`]);
    expect(await aslErrors(toStateMachine(long))).toBe("");
    expect(() => compileStateMachine(JSON.parse(JSON.stringify(toStateMachine(long))))).not.toThrow();
  });

  it("has a fork after its join if the map has several outgoing edges, and the scopes of this fork begin with the join", () => {
    expect(stateOf(machine, "m.joined", "Choice").Default).toBe("m.join.fork");
    expect(parallelOf(machine, "m.join.fork").Next).toBe("m.join.join");
    expect(stateOf(machine, "m.join.fork.x", "Pass").Parameters).toMatchObject({
      "scope.$": "States.Format('{}/m.join@{}.x', $.scope, $.seq)",
    });
    expect(taskOf(machine, "m.join.join").Parameters).toEqual({ join: "m.join", "at.$": "$" });
  });
});
