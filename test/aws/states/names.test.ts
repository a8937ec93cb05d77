import { expect, test } from "vitest";
import {
  executionArn,
  homeOf,
  stateMachineArn,
  stateMachineName,
} from "../../../packages/aws/src/states/state-machines.ts";

test("keeps names within 80 characters and apart", () => {
  const ids = ["a", "b"].map((last) => `nova-${"long-".repeat(20)}${last}`);
  const names = ids.map(stateMachineName);
  expect(names.map(({ length }) => length)).toEqual([80, 80]);
  expect(names[0]).not.toBe(names[1]);
  for (const fitting of ["nova-invoice", "x".repeat(80)]) expect(stateMachineName(fitting)).toBe(fitting);
});

test("builds ARNs in the partition and account of the role", () => {
  const home = homeOf("arn:aws-us-gov:iam::123456789012:role/nova", "us-gov-west-1");
  const machine = stateMachineArn(home, "nova-invoice");
  expect(machine).toBe("arn:aws-us-gov:states:us-gov-west-1:123456789012:stateMachine:nova-invoice");
  expect(executionArn(`${machine}:7`, "exec_01")).toBe(
    "arn:aws-us-gov:states:us-gov-west-1:123456789012:execution:nova-invoice:exec_01",
  );
});
