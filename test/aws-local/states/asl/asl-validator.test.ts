import type { StateMachine } from "@nova/compiler";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../../../../packages/aws-local/src/json.ts";
import { compileStateMachine } from "../../../../packages/aws-local/src/states/asl/compile.ts";
import { DefinitionRejected } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { aslErrors } from "../../../compiler/support/states.ts";
import { FUNCTION } from "../support/run.ts";

const all = ["States.ALL"];
const pass = { Type: "Pass", End: true };

/** A definition with every state type, and with nearly every field that the local Step Functions supports. */
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

/** Returns the definition with the value at `path` replaced, or removed if `value` is undefined. */
function changed(path: Path, value: unknown): Json {
  const copy: unknown = structuredClone(definition);
  const holder = path.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], copy) as Record<
    string,
    unknown
  >;
  const last = path.at(-1) as string;
  if (Array.isArray(holder) && value === undefined) holder.splice(Number(last), 1);
  else holder[last] = value;
  return copy as Json;
}

function isRefused(definition: Json): boolean {
  try {
    compileStateMachine(definition);
    return false;
  } catch (error) {
    if (error instanceof DefinitionRejected) return true;
    throw error;
  }
}

/**
 * Returns whether asl-validator refuses the definition. asl-validator throws a TypeError for states that are not
 * objects. Such an error does not count as a refusal.
 */
async function isRefusedByValidator(definition: Json): Promise<boolean> {
  try {
    return (await aslErrors(definition as unknown as StateMachine)) !== "";
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

it("asl-validator and NOVA's compiler of ASL accept a definition that uses all features of the local Step Functions", async () => {
  expect(isRefused(definition)).toBe(false);
  expect(await isRefusedByValidator(definition)).toBe(false);
});

it("NOVA's compiler of ASL refuses every definition that asl-validator refuses", async () => {
  const values = [undefined, null, "x", "$.z", "Succeed", -1, 1.5, true, [], {}, { Bogus: 1 }];
  const change = fc.record({ path: fc.constantFrom(...pathsOf(definition)), value: fc.constantFrom(...values) });
  const agrees = fc.asyncProperty(change, async ({ path, value }) => {
    const definition = changed(path, value);
    return isRefused(definition) || !(await isRefusedByValidator(definition));
  });
  await fc.assert(agrees, { numRuns: 40 });
});
