import { expect, it } from "vitest";
import { reasonOf } from "../../../packages/engine/src/protocol/definition.ts";

it.each([
  [
    "NodeFailed",
    '{"errorType":"NodeFailed","errorMessage":"node \\"a\\": it broke"}',
    "NodeFailed",
    'node "a": it broke',
  ],
  ["SandboxUnavailable", "plain words", "SandboxUnavailable", "plain words"],
  ["States.Timeout", "", "NodeTimeout", "Step Functions ended the task at its time limit"],
  ["Lambda.Unknown", "The process exited", "NodeInterrupted", "Lambda.Unknown: The process exited"],
  ["TypeError", '{"errorMessage":"x"}', "NodeInterrupted", "TypeError: x"],
  ["Odd", "null", "NodeInterrupted", "Odd: null"],
  ["toString", '{"errorMessage":5}', "NodeInterrupted", 'toString: {"errorMessage":5}'],
])("reads %s with the cause %s as %s", (name, cause, className, message) => {
  expect(reasonOf({ Error: name, Cause: cause })).toEqual({ class: className, message });
});
