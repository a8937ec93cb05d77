import { expect, test } from "vitest";
import { executionArn, homeOf, stateMachineArn, stateMachineName } from "../../../packages/aws/src/states/names.ts";

test("names a machine after its workflow, once", () => {
  expect(stateMachineName("invoice")).toBe("nova-invoice");
  expect(stateMachineName("nova-invoice")).toBe("nova-invoice");
});

test("keeps long names within 80 characters and apart", () => {
  const ids = ["a", "b"].map((last) => `${"long-".repeat(20)}${last}`);
  const names = ids.map(stateMachineName);
  expect(names.map(({ length }) => length)).toEqual([80, 80]);
  expect(names[0]).not.toBe(names[1]);
  expect(stateMachineName("x".repeat(75))).toHaveLength(80);
});

test("builds ARNs in the partition and account of the role", () => {
  const home = homeOf("arn:aws-us-gov:iam::123456789012:role/nova", "us-gov-west-1");
  const machine = stateMachineArn(home, "nova-invoice");
  expect(machine).toBe("arn:aws-us-gov:states:us-gov-west-1:123456789012:stateMachine:nova-invoice");
  expect(executionArn(`${machine}:7`, "exec_01")).toBe(
    "arn:aws-us-gov:states:us-gov-west-1:123456789012:execution:nova-invoice:exec_01",
  );
});
