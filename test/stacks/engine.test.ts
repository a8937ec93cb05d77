import { localFunctions } from "@nova/compiler";
import { matchesPattern } from "@nova/workflow";
import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { brief } from "../support/iam.ts";
import { stacksOf } from "../support/stacks.ts";

let engine: Template;

beforeAll(async () => {
  engine = (await stacksOf("production")).templates.engine;
});

describe("the role of the state machines", () => {
  it("may invoke the functions that the compiler names, through their aliases", () => {
    const [invokes] = Object.values(engine.findResources("AWS::IAM::Policy")).flatMap(({ Properties }) =>
      Properties.PolicyName.startsWith("MachinesPolicy")
        ? Properties.PolicyDocument.Statement.filter(
            ({ Action }: { Action: string }) => Action === "lambda:InvokeFunction",
          )
        : [],
    );
    const aliases: string[] = invokes.Resource.map(brief).map((id: string) => id.replace("Live", ":live"));
    const compiled = Object.values(localFunctions).map((arn) => arn.split("function:")[1]?.replaceAll("-", ""));
    expect(aliases.toSorted()).toEqual(compiled.toSorted());
  });

  it("has the name that publishing passes to Step Functions", () => {
    engine.hasResourceProperties("AWS::IAM::Role", { RoleName: "nova-machines-us-east-1" });
  });

  it("can only be assumed by Step Functions, for machines of this account", () => {
    engine.hasResourceProperties("AWS::IAM::Role", {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: "states.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": "123456789012" } },
          },
        ],
      },
    });
  });
});

describe("the rules", () => {
  const patternOf = (id: string) => {
    const rules = Object.entries(engine.findResources("AWS::Events::Rule"));
    const [, { Properties }] = rules.find(([name]) => name.startsWith(id)) as [string, { Properties: never }];
    const { EventPattern } = Properties as { EventPattern: object };
    return JSON.parse(JSON.stringify(EventPattern, (_, value) => (value?.["Fn::Join"] ? brief(value) : value)));
  };
  const ended = (status: string, machine: string, name: string) => ({
    source: "aws.states",
    "detail-type": "Step Functions Execution Status Change",
    detail: { status, name, stateMachineArn: `arn:aws:states:us-east-1:123456789012:stateMachine:${machine}` },
  });

  it.each([
    [true, "another program's", { account: "123456789012", source: "shop" }],
    [false, "NOVA's own", { account: "123456789012", source: "nova" }],
    [false, "another account's", { account: "210987654321", source: "shop" }],
  ])("forward or do not forward (%s) an event on the bus that is %s", (isMatch, _, event) => {
    expect(matchesPattern(patternOf("Events"), event)).toBe(isMatch);
  });

  it("may write undelivered events into the queue, and so may rules of triggers", () => {
    const [{ Properties } = { Properties: {} }] = Object.values(engine.findResources("AWS::SQS::QueuePolicy"));
    const [sends] = Properties.PolicyDocument.Statement.filter(
      (one: { Condition: object }) => "ArnLike" in one.Condition,
    );
    expect(sends.Principal).toEqual({ Service: "events.amazonaws.com" });
    expect(
      sends.Condition.ArnLike["aws:SourceArn"].map(brief).map((arn: string) => arn.split("123456789012:")[1]),
    ).toEqual(["rule/nova/*", "rule/nova/nova-*", "rule/nova-*"]);
  });

  it.each([
    [true, "a run that failed", ended("FAILED", "nova-invoice", "exec_01J")],
    [true, "a run that was aborted", ended("ABORTED", "nova-invoice", "exec_01J")],
    [false, "a run that begins", ended("RUNNING", "nova-invoice", "exec_01J")],
    [false, "an item of a distributed map", ended("SUCCEEDED", "nova-invoice", "5f0c1a52-9a5e")],
    [false, "a state machine that is not NOVA's", ended("FAILED", "payroll", "exec_01J")],
  ])("forward or do not forward (%s) the end of %s", (isMatch, _, event) => {
    expect(matchesPattern(patternOf("RunEnds"), event)).toBe(isMatch);
  });

  it("keep events that their functions could not handle", () => {
    for (const { Properties } of Object.values(engine.findResources("AWS::Events::Rule"))) {
      expect(brief(Properties.Targets[0].DeadLetterConfig.Arn)).toBe("Undelivered.Arn");
    }
  });

  it("run the sweep every minute", () => {
    engine.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 minute)" });
  });
});

it("the log groups keep logs for three months in production, and Step Functions can write the log of state machines", () => {
  for (const LogGroupName of ["/aws/lambda/nova", "/aws/vendedlogs/states/nova"]) {
    engine.hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Retain",
      Properties: { LogGroupName, RetentionInDays: 90 },
    });
  }
});
