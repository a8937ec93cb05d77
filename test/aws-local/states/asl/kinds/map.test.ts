import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../../packages/aws-local/src/lambda-types.ts";
import { FUNCTION, failure, outline, runState, scripted } from "../../support/run.ts";

const body = (state: object) => ({ StartAt: "Item", States: { Item: { ...state, End: true } } });
const pass = body({ Type: "Pass" });
const index = { "i.$": "$$.Map.Item.Index" };
const breakAt3 = {
  StartAt: "Is3",
  States: {
    Is3: { Type: "Choice", Choices: [{ Variable: "$", NumericEquals: 3, Next: "Break" }], Default: "Item" },
    Item: { Type: "Pass", End: true },
    Break: { Type: "Fail", Error: "SomeFailure" },
  },
};

describe("a Map state", () => {
  it.each<[string, object, unknown, unknown]>([
    ["runs its body for each item", { ItemProcessor: pass }, [1, "two", null, {}], [1, "two", null, {}]],
    ["returns an empty list for an empty list", { ItemProcessor: pass }, [], []],
    [
      "finds its items by a path",
      { ItemProcessor: pass, ItemsPath: "$.a", ResultPath: "$.r" },
      { a: [1] },
      { a: [1], r: [1] },
    ],
    [
      "makes each item's input from the item, its index and the whole input",
      {
        ItemProcessor: pass,
        ItemsPath: "$.list",
        ItemSelector: { "i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "all.$": "$.name" },
      },
      { name: "n", list: ["a", "b"] },
      [
        { i: 0, v: "a", all: "n" },
        { i: 1, v: "b", all: "n" },
      ],
    ],
    [
      "inside another Map passes its own items to its body, and not those of the outer Map",
      {
        ItemProcessor: {
          StartAt: "Inner",
          States: {
            Inner: { Type: "Map", ItemProcessor: body({ Type: "Pass", Parameters: index }), End: true },
          },
        },
      },
      [["a", "b"], ["c"]],
      [[{ i: 0 }, { i: 1 }], [{ i: 0 }]],
    ],
  ])("does what AWS does: it %s", async (_name, fields, input, expected) => {
    const result = await runState({ Type: "Map", ...fields }, input);
    expect(result).toMatchObject({ status: "SUCCEEDED" });
    expect(result.output).toEqual(expected);
  });

  it("with MaxConcurrency 1 records all events of an iteration before those of the next iteration, as AWS does", async () => {
    const result = await runState({ Type: "Map", MaxConcurrency: 1, ItemProcessor: pass }, ["a", "b"]);
    expect(outline(result).slice(1)).toEqual([
      "2<0 MapStateEntered",
      "3<2 MapStateStarted",
      "4<3 MapIterationStarted",
      "5<4 PassStateEntered",
      "6<5 PassStateExited",
      "7<6 MapIterationSucceeded",
      "8<6 MapIterationStarted",
      "9<8 PassStateEntered",
      "10<9 PassStateExited",
      "11<10 MapIterationSucceeded",
      "12<11 MapStateSucceeded",
      "13<11 MapStateExited",
      "14<13 ExecutionSucceeded",
    ]);
    expect(result.events[6]).toMatchObject({ mapIterationSucceededEventDetails: { name: "S", index: 0 } });
  });

  it.each([
    [{ MaxConcurrency: 3 }, 3],
    [{ MaxConcurrency: 100 }, 40],
    [{}, 40],
  ])("with the fields %j runs at most %d iterations at the same time", async (fields, expected) => {
    let running = 0;
    let most = 0;
    const invokeLambda: InvokeLambda = async (_arn, payload) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return { ok: true, payload };
    };
    const items = Array.from({ length: 60 }, (_, i) => i + 1);
    const processor = body({ Type: "Task", Resource: FUNCTION });
    const result = await runState({ Type: "Map", ...fields, ItemProcessor: processor }, items, { invokeLambda });
    expect(result.output).toEqual(items);
    expect(most).toBe(expected);
  });

  it("fails as soon as an iteration fails, and starts no further iteration", async () => {
    const result = await runState({ Type: "Map", MaxConcurrency: 1, ItemProcessor: breakAt3 }, [1, 3, 4]);
    expect(result).toMatchObject({ status: "FAILED", error: "SomeFailure" });
    expect(outline(result).slice(-4)).toEqual([
      "13<12 FailStateEntered",
      "14<13 MapIterationFailed",
      "15<13 MapStateFailed",
      "16<15 ExecutionFailed",
    ]);
  });

  it("aborts the iterations in progress when one iteration fails", async () => {
    const { invokeLambda } = scripted(failure("Broken"));
    const forever: InvokeLambda = (arn, payload) =>
      payload === "0" ? invokeLambda(arn, payload) : new Promise(() => {});
    const processor = body({ Type: "Task", Resource: FUNCTION });
    const result = await runState({ Type: "Map", ItemProcessor: processor }, [0, 1], { invokeLambda: forever });
    expect(result.events.map((event) => event.type).slice(-7)).toEqual([
      "LambdaFunctionFailed",
      "MapIterationFailed",
      "TaskStateAborted",
      "MapIterationAborted",
      "TaskStateAborted",
      "MapStateFailed",
      "ExecutionFailed",
    ]);
  });

  it("starts all iterations again on a Retry, and records a failure only after the last attempt", async () => {
    const fields = { ItemProcessor: breakAt3, Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 1 }] };
    const types = (await runState({ Type: "Map", ...fields }, [3])).events.map((event) => event.type);
    expect(types.filter((type) => type === "MapStateStarted")).toHaveLength(2);
    expect(types.filter((type) => type === "MapStateFailed")).toHaveLength(1);
  });

  it.each<[object, unknown, string]>([
    [{}, { a: 1 }, 'Reference path "$" must point to array.'],
    [{ ItemsPath: "$.a" }, { a: 1 }, 'Reference path "$.a" must point to array.'],
  ])("with %j fails at run time for the input %j", async (fields, input, reason) => {
    const result = await runState({ Type: "Map", ItemProcessor: pass, ...fields }, input);
    expect(result).toMatchObject({ error: "States.Runtime", cause: expect.stringContaining(reason) });
  });
});
