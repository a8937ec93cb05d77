import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../../packages/aws-local/src/lambda-types.ts";
import { FUNCTION, outline, runState } from "../../support/run.ts";

const distributed = { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" };
const body = (state: object, more: object = {}) => ({
  ProcessorConfig: distributed,
  StartAt: "Item",
  States: { Item: { ...state, End: true }, ...more },
});
const pass = body({ Type: "Pass" });
const even = { Variable: "$", NumericEquals: 2, Next: "Break" };
const breakAt2 = {
  ProcessorConfig: distributed,
  StartAt: "Is2",
  States: {
    Is2: { Type: "Choice", Choices: [even, { ...even, NumericEquals: 4 }], Default: "Item" },
    Item: { Type: "Pass", End: true },
    Break: { Type: "Fail", Error: "SomeFailure" },
  },
};
const reader = {
  Resource: "arn:aws:states:::s3:getObject",
  ReaderConfig: { InputType: "JSON" },
  Parameters: { "Bucket.$": "$.at.bucket", Key: "items.json" },
};
const objects = (texts: Record<string, string>) => async (place: { bucket: string; key: string }) => {
  const text = texts[`${place.bucket}/${place.key}`];
  if (text === undefined) throw new Error("The specified key does not exist.");
  return text;
};
const tooMany = { status: "FAILED", error: "States.ExceedToleratedFailureThreshold" };

describe("a distributed Map", () => {
  it("returns results in the order of its items, and adds no events of items to the history", async () => {
    const state = { Type: "Map", ItemProcessor: pass, ItemsPath: "$.list", Label: "all" };
    const result = await runState(state, { list: [1, "two", null] });
    expect(result.output).toEqual([1, "two", null]);
    expect(outline(result).slice(1)).toEqual([
      "2<0 MapStateEntered",
      "3<2 MapStateStarted",
      "4<3 MapRunStarted",
      "5<4 MapRunSucceeded",
      "6<5 MapStateSucceeded",
      "7<5 MapStateExited",
      "8<7 ExecutionSucceeded",
    ]);
    expect(result.events[3]?.mapRunStartedEventDetails?.mapRunArn).toMatch(/:mapRun:direct\/all:[\w-]{36}$/);
  });

  it("reads its items from S3, and passes each item and its index to the ItemSelector", async () => {
    const ItemSelector = { "i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "all.$": "$.at" };
    const state = { Type: "Map", ItemProcessor: pass, ItemReader: reader, ItemSelector };
    const readObject = objects({ "b/items.json": '["x", {"y": 1}]' });
    const result = await runState(state, { at: { bucket: "b" } }, { readObject });
    const all = { bucket: "b" };
    expect(result.output).toEqual([
      { i: 0, v: "x", all },
      { i: 1, v: { y: 1 }, all },
    ]);
  });

  it.each([
    ["is not there", {}, "The specified key does not exist."],
    ["is no list", { "b/items.json": "{}" }, "The JSON file must hold a list."],
  ])("fails if the object with its items %s, and a Catch handles the failure", async (_name, texts, cause) => {
    const state = { Type: "Map", ItemProcessor: pass, ItemReader: reader };
    const readObject = objects(texts);
    const run = (more: object) => runState({ ...state, ...more }, { at: { bucket: "b" } }, { readObject });
    const result = await run({});
    expect(result).toMatchObject({ status: "FAILED", error: "States.ItemReaderFailed", cause });
    expect(outline(result).slice(-2)).toEqual(["5<4 MapRunFailed", "6<5 ExecutionFailed"]);
    const Catch = [{ ErrorEquals: ["States.ALL"], Next: "After" }];
    const after = { After: { Type: "Pass", Result: "caught", End: true } };
    const caught = await runState(
      { ...state, Catch, Next: "After" },
      { at: { bucket: "b" } },
      { readObject, more: after },
    );
    expect(caught.output).toBe("caught");
  });

  it("runs each item in an execution of its own", async () => {
    const show = { Type: "Pass", Parameters: { "in.$": "$" } };
    const result = await runState({ Type: "Map", ItemProcessor: body(show), Label: "L" }, ["a", "b"]);
    expect(result.output).toEqual([{ in: "a" }, { in: "b" }]);
    const started = result.events.find(({ type }) => type === "MapRunStarted");
    expect(started?.mapRunStartedEventDetails?.mapRunArn).toMatch(/:mapRun:direct\/L:[\w-]{36}$/);
    expect(result.events.filter(({ type }) => type === "PassStateEntered")).toEqual([]);
  });

  it("fails as soon as one item fails", async () => {
    expect(await runState({ Type: "Map", ItemProcessor: breakAt2 }, [1, 2, 3, 4, 5])).toMatchObject(tooMany);
  });

  it.each([
    [{ MaxConcurrency: 3 }, 3],
    [{}, 60],
  ])("with the fields %j runs at most %d items at the same time", async (fields, expected) => {
    let running = 0;
    let most = 0;
    const invokeLambda: InvokeLambda = async (_arn, payload) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return { ok: true, payload };
    };
    const items = Array.from({ length: 60 }, (_, i) => i);
    const processor = body({ Type: "Task", Resource: FUNCTION });
    const result = await runState({ Type: "Map", ...fields, ItemProcessor: processor }, items, { invokeLambda });
    expect(result.output).toEqual(items);
    expect(most).toBe(expected);
  });

  it("can have more items than the history of one execution could hold", async () => {
    const items = Array.from({ length: 13_000 }, (_, i) => i);
    const result = await runState({ Type: "Map", ItemProcessor: pass, ResultPath: null, OutputPath: null }, items);
    expect(result.status).toBe("SUCCEEDED");
    expect(result.events).toHaveLength(8);
  });

  it("records its Map Run as aborted when its execution is stopped", async () => {
    const stop = new AbortController();
    const invokeLambda: InvokeLambda = () => {
      stop.abort();
      return new Promise(() => {});
    };
    const processor = body({ Type: "Task", Resource: FUNCTION });
    const options = { invokeLambda, signal: stop.signal };
    const result = await runState({ Type: "Map", ItemProcessor: processor }, [1, 2], options);
    expect(outline(result).slice(-2)).toEqual(["5<4 MapRunAborted", "6<0 ExecutionAborted"]);
  });

  it.each<[string, object, RegExp]>([
    ["batches of items", { ItemBatcher: { MaxItemsPerBatch: 2 } }, /ItemBatcher is not supported here/],
    ["a result writer", { ResultWriter: {} }, /ResultWriter is not supported here/],
    ["a label with a space", { Label: "a b" }, /Label must have 1 to 40 characters/],
    ["both an ItemReader and an ItemsPath", { ItemReader: reader, ItemsPath: "$" }, /cannot stand beside/],
    [
      "a list of the objects in a bucket as items",
      { ItemReader: { ...reader, Resource: "arn:aws:states:::s3:listObjectsV2" } },
      /use arn.*getObject/,
    ],
    ["the lines of a CSV file as items", { ItemReader: { ...reader, ReaderConfig: { InputType: "CSV" } } }, /use JSON/],
    ["tolerated failures", { ToleratedFailureCount: 1 }, /ToleratedFailureCount is not supported here/],
    [
      "Express executions",
      { ItemProcessor: { ...pass, ProcessorConfig: { ...distributed, ExecutionType: "EXPRESS" } } },
      /STANDARD/,
    ],
    [
      "a Label if its Mode is INLINE",
      { Label: "l", ItemProcessor: { ...pass, ProcessorConfig: { Mode: "INLINE" } } },
      /Label is not supported here/,
    ],
  ])("refuses %s", async (_name, fields, sentence) => {
    await expect(runState({ Type: "Map", ItemProcessor: pass, ...fields }, [])).rejects.toThrow(sentence);
  });
});
