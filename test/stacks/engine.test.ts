import { localFunctions } from "@nova/compiler";
import { functions } from "@nova/functions";
import { matchesPattern } from "@nova/workflow";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { Environment } from "../../functions/environment.ts";
import { brief } from "../support/iam.ts";
import { stacksOf } from "../support/stacks.ts";

let engine: Template;

beforeAll(async () => {
  engine = (await stacksOf("production")).templates.engine;
});

const lambdas = () => Object.values(engine.findResources("AWS::Lambda::Function")).map(({ Properties }) => Properties);
const names = Object.keys(functions) as (keyof typeof functions)[];

describe("the functions", () => {
  it("are those of functions/, with their time", () => {
    const times = Object.fromEntries(lambdas().map(({ FunctionName, Timeout }) => [FunctionName, Timeout]));
    expect(times).toEqual(
      Object.fromEntries(Object.entries(functions).map(([name, { timeoutSeconds }]) => [name, timeoutSeconds])),
    );
  });

  it.each(names)("deploy %s on Node 24 and arm, traced, with the shared log group", (FunctionName) => {
    engine.hasResourceProperties("AWS::Lambda::Function", {
      FunctionName,
      Handler: `functions/${FunctionName.replace("nova-", "")}.handler`,
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      TracingConfig: { Mode: "Active" },
      LoggingConfig: { LogGroup: { Ref: Match.stringLikeRegexp("^Logs") } },
    });
  });

  it("are known by an alias each, which moves with their code", () => {
    const aliases = Object.values(engine.findResources("AWS::Lambda::Alias")).map(({ Properties }) => Properties);
    expect(aliases.map(({ Name }) => Name)).toEqual(names.map(() => "live"));
    expect(aliases.map(({ FunctionVersion }) => JSON.stringify(FunctionVersion))).not.toContain('"$LATEST"');
  });

  it.each(names)("tell %s what functions/environment.ts asks for, in less than Lambda's 4 KB", (name) => {
    const { Environment: environment } = lambdas().find(({ FunctionName }) => FunctionName === name) as never;
    const variables = Object.fromEntries(
      Object.entries((environment as { Variables: object }).Variables).map(([key, value]) => [key, brief(value)]),
    );
    expect(Environment.parse(variables)).toMatchObject({
      NOVA_TABLE: "Table",
      NOVA_BUCKET: "Bucket",
      NOVA_SIGNING_KMS_KEY: "SigningKey",
      NOVA_VAULT_KMS_KEY: "VaultKey",
      NOVA_FROZEN: true,
    });
    expect(JSON.stringify(variables).length).toBeLessThan(3_000);
  });

  it("know keys by the names of parameters, never by value, and only where they use them", () => {
    const keys = lambdas().map(({ FunctionName, Environment: { Variables } }) => [
      FunctionName,
      Object.entries(Variables).filter(([name]) => /API_KEY/.test(name)),
    ]);
    const e2b = ["E2B_API_KEY_PARAMETER", "/nova/production/E2B_API_KEY"];
    const openai = ["OPENAI_API_KEY_PARAMETER", "/nova/production/OPENAI_API_KEY"];
    expect(Object.fromEntries(keys)).toEqual({
      "nova-run-node": [e2b, openai],
      "nova-settle-node": [e2b],
      "nova-close-execution": [e2b],
      "nova-request-approval": [e2b],
      "nova-deliver-event": [],
      "nova-execution-status": [e2b],
      "nova-sweep": [e2b],
    });
  });
});

describe("the role of the state machines", () => {
  it("invokes the functions that the compiler names, by their alias", () => {
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

  it("is assumed by Step Functions for machines of this account alone", () => {
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
    [true, "a run that failed", ended("FAILED", "nova-invoice", "exec_01J")],
    [true, "a run that was aborted", ended("ABORTED", "nova-invoice", "exec_01J")],
    [false, "a run that begins", ended("RUNNING", "nova-invoice", "exec_01J")],
    [false, "an item of a distributed map", ended("SUCCEEDED", "nova-invoice", "5f0c1a52-9a5e")],
    [false, "somebody else's state machine", ended("FAILED", "payroll", "exec_01J")],
  ])("hand on (%s) the end of %s", (isMatch, _, event) => {
    expect(matchesPattern(patternOf("RunEnds"), event)).toBe(isMatch);
  });

  it("keep what their functions could not take", () => {
    for (const { Properties } of Object.values(engine.findResources("AWS::Events::Rule"))) {
      expect(brief(Properties.Targets[0].DeadLetterConfig.Arn)).toBe("Undelivered.Arn");
    }
    expect(Object.keys(engine.findResources("AWS::Lambda::EventInvokeConfig"))).toHaveLength(3);
    engine.allResourcesProperties("AWS::Lambda::EventInvokeConfig", {
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
  });

  it("sweep every minute", () => {
    engine.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 minute)" });
  });
});

it("keeps logs for three months in production, and those of state machines where Step Functions can write them", () => {
  for (const LogGroupName of ["/aws/lambda/nova", "/aws/vendedlogs/states/nova"]) {
    engine.hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Retain",
      Properties: { LogGroupName, RetentionInDays: 90 },
    });
  }
});
