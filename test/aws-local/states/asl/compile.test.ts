import { describe, expect, it } from "vitest";
import type { Json } from "../../../../packages/aws-local/src/json.ts";
import { compileStateMachine } from "../../../../packages/aws-local/src/states/asl/compile.ts";
import { DefinitionRejected } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { FUNCTION, runState } from "../support/run.ts";

function rejection(definition: Json): DefinitionRejected {
  try {
    compileStateMachine(definition);
  } catch (error) {
    if (error instanceof DefinitionRejected) return error;
    throw error;
  }
  throw new TypeError("the definition was accepted");
}

const end = { Type: "Pass", End: true };
const task = { Type: "Task", Resource: FUNCTION, End: true };
const all = { ErrorEquals: ["States.ALL"] };
const one = (state: Json): Json => ({ StartAt: "S", States: { S: state } });

describe("an invalid definition of a state machine", () => {
  it.each<[Json, string, RegExp]>([
    [[], "/", /object is expected/],
    [{ States: {} }, "/StartAt", /is required/],
    [{ StartAt: "S", States: {} }, "/StartAt", /Missing 'StartAt' target: S/],
    [one({ Type: "Sleep" }), "/States/S/Type", /"Sleep" is no state type/],
    [one({ Type: "Pass" }), "/States/S/Next", /and not both/],
    [{ StartAt: "S", States: { S: end, T: end } }, "/States/T", /State "T" is not reachable/],
    [one({ Type: "Pass", Next: "T" }), "/States/S/Next", /Missing 'Next' target: T/],
    [one({ Type: "Pass", Next: "S" }), "/States", /No terminal state/],
    [one({ ...end, Bogus: 1 }), "/States/S/Bogus", /is not supported here/],
    [{ StartAt: "S", States: { S: end }, Bogus: 1 }, "/Bogus", /is not supported here/],
    [one({ ...task, Retry: [all, { ErrorEquals: ["E"] }] }), "/States/S/Retry[0]/ErrorEquals", /States.ALL alone/],
    [
      one({ ...task, Catch: [{ ErrorEquals: ["E", "States.ALL"], Next: "S" }] }),
      "/States/S/Catch[0]/ErrorEquals",
      /alone/,
    ],
    [one({ ...task, Retry: [{ ...all, BackoffRate: 0.5 }] }), "/States/S/Retry[0]/BackoffRate", /at least 1/],
    [one({ Type: "Parallel", End: true, Branches: [] }), "/States/S/Branches", /not empty/],
    [
      one({ Type: "Parallel", End: true, Branches: [{ StartAt: "S", States: { S: end } }] }),
      "/States/S/Branches[0]/States/S",
      /Two states/,
    ],
    [one({ Type: "Pass", End: true, Next: "S" }), "/States/S/Next", /and not both/],
    [one({ Type: "Pass", End: true, InputPath: "$" }), "/States/S/InputPath", /is not supported here/],
    [one({ Type: "Pass", End: true, Parameters: { "a.$": "a" } }), "/States/S/Parameters/a.$", /not a JSONPath/],
    [
      one({ Type: "Pass", End: true, Parameters: { "a.$": 1 } }),
      "/States/S/Parameters/a.$",
      /must be a valid JSONPath/,
    ],
    [one({ Type: "Pass", End: true, Assign: { a: 1 } }), "/States/S/Assign", /is not supported here/],
    [one({ Type: "Pass", End: true, QueryLanguage: "JSONata" }), "/States/S/QueryLanguage", /is not supported here/],
    [{ QueryLanguage: "JSONata", StartAt: "S", States: {} }, "/QueryLanguage", /is not supported here/],
    [
      one({ Type: "Task", End: true, Resource: "arn:aws:states:::sqs:sendMessage" }),
      "/States/S/Resource",
      /name a Lambda/,
    ],
    [
      one({ Type: "Task", End: true, Resource: FUNCTION, Retry: [{}] }),
      "/States/S/Retry[0]/ErrorEquals",
      /error names/,
    ],
    [one({ Type: "Task", End: true, Resource: FUNCTION, TimeoutSeconds: "9" }), "/States/S/TimeoutSeconds", /a number/],
    [one({ Type: "Fail", Error: "E", ErrorPath: "$.e" }), "/States/S/ErrorPath", /cannot stand beside Error/],
    [one({ Type: "Wait", End: true, Timestamp: "tomorrow" }), "/States/S/Timestamp", /is not supported here/],
    [
      one({
        Type: "Map",
        End: true,
        ItemProcessor: { ProcessorConfig: { Mode: "ELSEWHERE" }, StartAt: "S", States: {} },
      }),
      "/States/S/ItemProcessor/ProcessorConfig/Mode",
      /must be INLINE or DISTRIBUTED/,
    ],
    [
      one({ Type: "Parallel", End: true, Branches: [{ StartAt: "X", States: {} }] }),
      "/States/S/Branches[0]/StartAt",
      /Missing 'StartAt' target: X/,
    ],
  ])("%j is rejected at %s", (definition, at, reason) => {
    const rejected = rejection(definition);
    expect(rejected.at).toBe(at);
    expect(rejected.message).toMatch(reason);
  });
});

describe("the context object of a state", () => {
  it("contains `$$.State`, but a definition that reads `$$.Execution` is rejected", async () => {
    const parameters = { "name.$": "$$.State.Name", "retries.$": "$$.State.RetryCount" };
    const result = await runState({ Type: "Pass", Parameters: parameters }, {});
    expect(result.output).toEqual({ name: "S", retries: 0 });
    const refused = rejection(one({ Type: "Pass", Parameters: { "id.$": "$$.Execution.Id" }, End: true }));
    expect(refused.message).toMatch(/only \$\$\.State, \$\$\.Task and \$\$\.Map are/);
  });
});
