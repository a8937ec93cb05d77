import { describe, expect, it } from "vitest";
import { outline, runState } from "../../support/run.ts";
import { virtualClock } from "../../support/virtual-clock.ts";

const where = "An error occurred while executing the state 'S' (entered at the event id #2).";

describe("a Pass state", () => {
  it.each<[string, object, unknown, unknown]>([
    ["returns its input", {}, { a: 1 }, { a: 1 }],
    ["returns its Result", { Result: { b: 2 } }, { a: 1 }, { b: 2 }],
    ["places its Result in its input", { Result: 2, ResultPath: "$.b" }, { a: 1 }, { a: 1, b: 2 }],
    ["discards its Result", { Result: 2, ResultPath: null }, { a: 1 }, { a: 1 }],
    ["selects its output", { OutputPath: "$.a" }, { a: [1] }, [1]],
    ["returns {} if its OutputPath is null", { OutputPath: null }, { a: 1 }, {}],
    ["reads the context object", { Parameters: { "n.$": "$$.State.Name" } }, {}, { n: "S" }],
    [
      "fills in its Parameters at any depth",
      { Parameters: { "x.$": "$.a", deep: [{ "y.$": "States.Format('{}', $.a)" }, "z.$"], fixed: { k: "$.a" } } },
      { a: 1 },
      { x: 1, deep: [{ y: "1" }, "z.$"], fixed: { k: "$.a" } },
    ],
  ])("does what AWS does: it %s", async (_name, fields, input, expected) => {
    expect((await runState({ Type: "Pass", ...fields }, input)).output).toEqual(expected);
  });

  it.each<[object, string]>([
    [{ OutputPath: "$.no" }, `${where} Invalid path '$.no' : No results for path: $['no']`],
    [
      { Parameters: { deep: { "value.$": "$.no" } } },
      `${where} The JSONPath '$.no' specified for the field 'value.$' could not be found in the input '{"a":1}'`,
    ],
  ])("with %j ends the execution if the path finds nothing", async (fields, cause) => {
    const result = await runState({ Type: "Pass", ...fields }, { a: 1 });
    expect(result).toMatchObject({ status: "FAILED", error: "States.Runtime", cause });
    expect(outline(result)).toEqual(["1<0 ExecutionStarted", "2<0 PassStateEntered", "3<2 ExecutionFailed"]);
  });

  it("records its input and output", async () => {
    const result = await runState({ Type: "Pass", Result: 2, ResultPath: "$.b" }, { a: 1 });
    expect(result.events).toMatchObject([
      { type: "ExecutionStarted", executionStartedEventDetails: { input: '{"a":1}' } },
      { type: "PassStateEntered", stateEnteredEventDetails: { name: "S", input: '{"a":1}' } },
      { type: "PassStateExited", stateExitedEventDetails: { name: "S", output: '{"a":1,"b":2}' } },
      { type: "ExecutionSucceeded", executionSucceededEventDetails: { output: '{"a":1,"b":2}' } },
    ]);
  });
});

describe("a Succeed state", () => {
  it("ends the execution with its input as the output", async () => {
    expect(await runState({ Type: "Succeed" }, { a: 7 })).toMatchObject({ status: "SUCCEEDED", output: { a: 7 } });
  });
});

describe("a Fail state", () => {
  it.each<[string, object, string | undefined, string | undefined]>([
    ["with its Error and Cause", { Error: "Broken", Cause: "by hand" }, "Broken", "by hand"],
    ["without an error and without a cause", {}, undefined, undefined],
    ["with the values that its paths find", { ErrorPath: "$.e", CausePath: "$$.State.Name" }, "E1", "S"],
  ])("ends the execution as a failure %s", async (_name, fields, error, cause) => {
    const result = await runState({ Type: "Fail", ...fields }, { e: "E1" });
    expect([result.status, result.error, result.cause]).toEqual(["FAILED", error, cause]);
    expect(outline(result)).toEqual(["1<0 ExecutionStarted", "2<0 FailStateEntered", "3<2 ExecutionFailed"]);
  });

  it("fails with a runtime error if its path finds no string", async () => {
    const missing = await runState({ Type: "Fail", ErrorPath: "$.no" }, {});
    expect(missing.cause).toBe(
      `${where} The JSONPath '$.no' specified for the field 'ErrorPath' could not be found in the input '{}'`,
    );
    const number = await runState({ Type: "Fail", CausePath: "$.n" }, { n: 1 });
    expect(number).toMatchObject({ error: "States.Runtime", cause: expect.stringContaining("must refer to a string") });
  });
});

describe("a Wait state", () => {
  it.each<[object, unknown, number]>([
    [{ Seconds: 10 }, {}, 10],
    [{ SecondsPath: "$.s" }, { s: 31_536_000 }, 31_536_000],
    [{ TimestampPath: "$.t" }, { t: "2026-01-01T02:00:00+01:00" }, 3600],
    [{ TimestampPath: "$.t" }, { t: "2020-01-01T00:00:00Z" }, 0],
  ])("with %j waits for that time", async (fields, input, seconds) => {
    const clock = virtualClock();
    const result = await runState({ Type: "Wait", ...fields }, input, { clock });
    expect(result).toMatchObject({ status: "SUCCEEDED", output: input });
    const [entered, exited] = result.events.filter((event) => event.type?.startsWith("WaitState"));
    expect((exited?.timestamp ?? 0) - (entered?.timestamp ?? 0)).toBe(seconds);
  });

  it.each<[object, unknown, string]>([
    [{ SecondsPath: "$.s" }, { s: 1.5 }, "The SecondsPath parameter cannot be parsed as a long value: $.s == 1.5"],
    [{ SecondsPath: "$.s" }, { s: -1 }, "The SecondsPath parameter references a negative value: $.s == -1"],
    [{ SecondsPath: "$.s" }, {}, "The SecondsPath parameter does not reference an input value: $.s"],
    [
      { TimestampPath: "$.t" },
      { t: "2016-12-05T21:29:29" },
      "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: $.t == 2016-12-05T21:29:29",
    ],
  ])("with %j fails at run time for the input %j", async (fields, input, reason) => {
    const result = await runState({ Type: "Wait", ...fields }, input);
    expect(result).toMatchObject({ status: "FAILED", error: "States.Runtime", cause: `${where} ${reason}` });
  });
});
