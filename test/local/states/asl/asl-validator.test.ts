import fc from "fast-check";
import { expect, it } from "vitest";
import { checkDefinition, diagnoseDefinition } from "../../../../packages/local/src/states/server/definition-check.ts";
import { FUNCTION } from "../support/run.ts";

const all = ["States.ALL"];
const pass = { Type: "Pass", End: true };

/** Every state type and nearly every field that is served. */
const definition = {
  Comment: "everything",
  StartAt: "Task",
  TimeoutSeconds: 100,
  States: {
    Task: {
      Type: "Task",
      Resource: FUNCTION,
      Parameters: { "a.$": "$.b" },
      ResultPath: "$.r",
      OutputPath: "$",
      TimeoutSeconds: 5,
      Retry: [{ ErrorEquals: all, IntervalSeconds: 1, MaxAttempts: 2, BackoffRate: 1.5 }],
      Catch: [{ ErrorEquals: all, ResultPath: "$.e", Next: "Fail" }],
      Next: "Choice",
    },
    Choice: {
      Type: "Choice",
      Choices: [
        { Variable: "$.a", NumericEquals: 1, Next: "Wait" },
        {
          And: [
            { Variable: "$.a", IsPresent: true },
            { Variable: "$.b", StringEquals: "x" },
          ],
          Next: "Pass",
        },
        { Variable: "$.t", BooleanEquals: true, Next: "Map" },
      ],
      Default: "Parallel",
    },
    Wait: { Type: "Wait", Seconds: 5, Next: "Succeed" },
    Pass: { Type: "Pass", Result: { a: 1 }, ResultPath: null, End: true },
    Succeed: { Type: "Succeed" },
    Fail: { Type: "Fail", Error: "E", Cause: "C" },
    Map: {
      Type: "Map",
      ItemsPath: "$.l",
      MaxConcurrency: 2,
      ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }, StartAt: "Item", States: { Item: pass } },
      End: true,
    },
    Parallel: { Type: "Parallel", Branches: [{ StartAt: "Branch", States: { Branch: pass } }], Next: "Succeed" },
  },
};

type Path = (string | number)[];

function pathsOf(value: object, path: Path = []): Path[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return typeof inner === "object" && inner !== null ? [here, ...pathsOf(inner, here)] : [here];
  });
}

/** The definition with one value replaced, or taken out where `value` is undefined. */
function changed(path: Path, value: unknown): string {
  const copy: unknown = structuredClone(definition);
  const holder = path.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], copy) as Record<
    string,
    unknown
  >;
  const last = path.at(-1) as string;
  if (Array.isArray(holder) && value === undefined) holder.splice(Number(last), 1);
  else holder[last] = value;
  return JSON.stringify(copy);
}

it("takes a definition that uses everything", () => {
  expect(checkDefinition(JSON.stringify(definition))).toBeUndefined();
  expect(diagnoseDefinition(JSON.stringify(definition))).toEqual([]);
});

it("refuses whatever asl-validator refuses", () => {
  const values = [undefined, null, "x", "$.z", "Succeed", -1, 1.5, true, [], {}, { Bogus: 1 }];
  const change = fc.record({ path: fc.constantFrom(...pathsOf(definition)), value: fc.constantFrom(...values) });
  const agrees = fc.property(change, ({ path, value }) => {
    const text = changed(path, value);
    return checkDefinition(text) !== undefined || diagnoseDefinition(text).length === 0;
  });
  fc.assert(agrees, { numRuns: 40 });
});
