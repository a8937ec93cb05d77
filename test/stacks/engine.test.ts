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

describe("the AWS role of the state machines", () => {
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

describe("the EventBridge rules of the engine", () => {
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
  ])("have the match result %s for an event on the bus that is %s", (isMatch, _, event) => {
    expect(matchesPattern(patternOf("Events"), event)).toBe(isMatch);
  });

  it("may put undelivered events into the queue of undelivered events, and the rules of triggers may do so, too", () => {
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
    [true, "the failure of a run", ended("FAILED", "nova-invoice", "exec_01J")],
    [true, "the abort of a run", ended("ABORTED", "nova-invoice", "exec_01J")],
    [false, "the start of a run", ended("RUNNING", "nova-invoice", "exec_01J")],
    [false, "the end of an item of a distributed map", ended("SUCCEEDED", "nova-invoice", "5f0c1a52-9a5e")],
    [false, "the failure of a state machine that is not NOVA's", ended("FAILED", "payroll", "exec_01J")],
  ])("have the match result %s for the event about %s", (isMatch, _, event) => {
    expect(matchesPattern(patternOf("RunEnds"), event)).toBe(isMatch);
  });

  it("put events that their functions could not handle into the queue of undelivered events", () => {
    for (const { Properties } of Object.values(engine.findResources("AWS::Events::Rule"))) {
      expect(brief(Properties.Targets[0].DeadLetterConfig.Arn)).toBe("Undelivered.Arn");
    }
  });

  it("start the sweep every minute", () => {
    engine.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 minute)" });
  });

  it("start the proof of closed runs every hour", () => {
    engine.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 hour)" });
  });

  it("continue the daily check of all chains every fifteen minutes, but only in a deployment that asks for it", async () => {
    const everyQuarter = { ScheduleExpression: "rate(15 minutes)" };
    engine.resourcePropertiesCountIs("AWS::Scheduler::Schedule", everyQuarter, 1);
    const { engine: without } = (await stacksOf("ada")).templates;
    without.resourcePropertiesCountIs("AWS::Scheduler::Schedule", everyQuarter, 0);
  });
});

it("log groups keep logs for three months in production, and Step Functions can write the logs of state machines", () => {
  for (const LogGroupName of ["/aws/lambda/nova", "/aws/vendedlogs/states/nova"]) {
    engine.hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Retain",
      Properties: { LogGroupName, RetentionInDays: 90 },
    });
  }
});
