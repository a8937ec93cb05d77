import { expect, test } from "vitest";
import {
  executionArn,
  executionPageUrl,
  homeOf,
  stateMachineArn,
  stateMachineName,
} from "../../../packages/aws/src/states/state-machines.ts";

test("names of state machines have at most 80 characters and stay unique", () => {
  const ids = ["a", "b"].map((last) => `nova-${"long-".repeat(20)}${last}`);
  const names = ids.map(stateMachineName);
  expect(names.map(({ length }) => length)).toEqual([80, 80]);
  expect(names[0]).not.toBe(names[1]);
  for (const fitting of ["nova-invoice", "x".repeat(80)]) expect(stateMachineName(fitting)).toBe(fitting);
});

test("ARNs have the partition and account of the role", () => {
  const home = homeOf("arn:aws-us-gov:iam::123456789012:role/nova", "us-gov-west-1");
  const machine = stateMachineArn(home, "nova-invoice");
  expect(machine).toBe("arn:aws-us-gov:states:us-gov-west-1:123456789012:stateMachine:nova-invoice");
  expect(executionArn(`${machine}:7`, "exec_01")).toBe(
    "arn:aws-us-gov:states:us-gov-west-1:123456789012:execution:nova-invoice:exec_01",
  );
});

test.each([
  ["aws", "eu-west-1", "eu-west-1.console.aws.amazon.com"],
  ["aws-us-gov", "us-gov-west-1", "console.amazonaws-us-gov.com"],
  ["aws-cn", "cn-north-1", "console.amazonaws.cn"],
])("an execution has a page in the console of partition %s", (partition, region, host) => {
  const arn = `arn:${partition}:states:${region}:123456789012:execution:nova-invoice:exec_01.2`;
  expect(executionPageUrl(arn)).toBe(`https://${host}/states/home?region=${region}#/v2/executions/details/${arn}`);
});

test.each([
  ["a cloud on one's own machine", "arn:aws:states:us-east-1:000000000000:execution:nova-invoice:exec_01"],
  ["another partition", "arn:aws-iso:states:us-iso-east-1:123456789012:execution:nova-invoice:exec_01"],
  ["a state machine", "arn:aws:states:us-east-1:123456789012:stateMachine:nova-invoice"],
  ["a name that says more", 'arn:aws:states:us-east-1:123456789012:execution:nova:e"><script>'],
])("an execution has no page in a console for %s", (_, arn) => {
  expect(executionPageUrl(arn)).toBeNull();
});
