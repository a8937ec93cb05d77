import { matchesPattern } from "@nova/workflow";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { brief } from "../support/iam.ts";
import { stacksOf } from "../support/stacks.ts";

let triggers: Template;
let personal: Template;

beforeAll(async () => {
  triggers = (await stacksOf("production")).templates.triggers;
  personal = (await stacksOf("ada")).templates.triggers;
});

interface Rule {
  EventPattern: object;
  EventBusName?: unknown;
  Targets: { Arn: unknown; DeadLetterConfig: { Arn: unknown }; InputTransformer?: object; SqsParameters?: object }[];
}

function rule(id: string): Rule {
  const [, found] = Object.entries(triggers.findResources("AWS::Events::Rule")).find(([name]) =>
    name.startsWith(id),
  ) as [string, { Properties: Rule }];
  return found.Properties;
}

const own = (type: string, kind = "approval") => ({
  account: "123456789012",
  source: "nova",
  "detail-type": type,
  detail: { kind },
});

describe("NOVA's own events", () => {
  it.each([
    ["Failures", "execution.failed", "FailuresToTell.Arn"],
    ["Approvals", "execution.waiting", "FailuresToTell.Arn"],
    ["Erasures", "client.erasing", "novaeraseLive"],
    ["Publishing", "workflow.publishing", "Publications.Arn"],
  ])("have a rule %s that forwards %s to %s only", (id, type, target) => {
    const { EventPattern, EventBusName, Targets } = rule(id);
    expect(Targets.map(({ Arn }) => brief(Arn))).toEqual([target]);
    expect(brief(EventBusName)).toMatch(/^Bus/);
    expect(matchesPattern(EventPattern as never, own(type))).toBe(true);
    expect(matchesPattern(EventPattern as never, own("execution.completed"))).toBe(false);
    expect(matchesPattern(EventPattern as never, { ...own(type), source: "shop" })).toBe(false);
  });

  it("cause no mail to approvers if a run waits for an event and not for an approval", () => {
    const { EventPattern } = rule("Approvals");
    expect(matchesPattern(EventPattern as never, own("execution.waiting", "event"))).toBe(false);
  });

  it("are put into the queue of undelivered events if their functions could not handle them", () => {
    for (const { Properties } of Object.values(triggers.findResources("AWS::Events::Rule"))) {
      expect(brief(Properties.Targets[0].DeadLetterConfig.Arn)).toBe("Undelivered.Arn");
    }
  });
});

it("failures and approvals are reported every quarter of an hour for a day, until a receiver accepts the report", () => {
  const [queue] = Object.values(triggers.findResources("AWS::SQS::Queue", { Properties: { VisibilityTimeout: 900 } }));
  const { maxReceiveCount, deadLetterTargetArn } = queue?.Properties.RedrivePolicy ?? {};
  expect(maxReceiveCount * 15).toBe(24 * 60);
  expect(brief(deadLetterTargetArn)).toBe("Undelivered.Arn");
});

describe("publications of workflow versions", () => {
  it("run one after the other: one group of a FIFO queue, one message at a time", () => {
    triggers.hasResourceProperties("AWS::SQS::Queue", { FifoQueue: true, VisibilityTimeout: 150 });
    triggers.allResourcesProperties("AWS::Lambda::EventSourceMapping", { BatchSize: 1 });
    expect(rule("Publishing").Targets[0]?.SqsParameters).toEqual({ MessageGroupId: "publications" });
  });

  it("are moved to another queue after three failures", () => {
    triggers.hasResourceProperties("AWS::SQS::Queue", {
      RedrivePolicy: { maxReceiveCount: 3, deadLetterTargetArn: Match.anyValue() },
    });
  });

  it("stay hidden in the queue for longer than the function's timeout, so that no publication runs twice at a time", () => {
    const queues = triggers.findResources("AWS::SQS::Queue", { Properties: { VisibilityTimeout: 150 } });
    const functions = triggers.findResources("AWS::Lambda::Function", { Properties: { FunctionName: "nova-publish" } });
    const [{ Properties } = { Properties: {} }] = Object.values(functions);
    expect(Object.keys(queues)).toHaveLength(1);
    expect(Properties.Timeout).toBeLessThan(150);
  });
});

describe("triggers of workflows", () => {
  const permissions = () =>
    Object.values(triggers.findResources("AWS::Lambda::Permission"))
      .map(({ Properties }) => Properties)
      .filter(({ FunctionName }) => brief(FunctionName) === "novafiretriggerLive");

  it("start runs by EventBridge rules on NOVA's bus and on the account's default bus", () => {
    const sources = permissions().map(({ SourceArn }) => brief(SourceArn).split("123456789012:")[1]);
    expect(sources).toEqual(["rule/nova/nova-*", "rule/nova-*"]);
    expect(permissions().map(({ Principal }) => Principal)).toEqual(["events.amazonaws.com", "events.amazonaws.com"]);
  });

  it("start runs by schedules of one group, and only these schedules can use the group's role", () => {
    triggers.hasResourceProperties("AWS::Scheduler::ScheduleGroup", { Name: "nova" });
    triggers.hasResourceProperties("AWS::IAM::Role", {
      RoleName: "nova-schedules-us-east-1",
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: "scheduler.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": "123456789012", "aws:SourceArn": Match.anyValue() } },
          },
        ],
      },
    });
  });
});

it("the hourly schedule erases data that is older than the client's retention", () => {
  triggers.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 hour)" });
});

describe("incoming mail", () => {
  it("is received for the configured domains, scanned for spam and viruses, and stored under mail/", () => {
    triggers.hasResourceProperties("AWS::SES::ReceiptRule", {
      RuleSetName: "nova",
      Rule: {
        Enabled: true,
        Recipients: ["in.example.com"],
        ScanEnabled: true,
        Actions: [{ S3Action: { ObjectKeyPrefix: "mail/" } }],
      },
    });
  });

  it.each([
    [true, "mail/0a1b"],
    [false, "blobs/default/exec_1/00"],
  ])("has a rule with the match result %s for a new object in the bucket with the key %s", (isMatch, key) => {
    const pattern = JSON.parse(JSON.stringify(rule("Mails").EventPattern), (name, value) =>
      name === "name" ? ["bucket"] : value,
    );
    const event = {
      source: "aws.s3",
      "detail-type": "Object Created",
      detail: { bucket: { name: "bucket" }, object: { key } },
    };
    expect(matchesPattern(pattern, event)).toBe(isMatch);
  });

  it("is passed on as an event in the format of S3", () => {
    const [target] = rule("Mails").Targets;
    const { InputTemplate, InputPathsMap } = { InputTemplate: "", InputPathsMap: {}, ...target?.InputTransformer };
    const [[name = "", path] = []] = Object.entries(InputPathsMap);
    expect(path).toBe("$.detail.object.key");
    const told = JSON.parse(InputTemplate.replace(`<${name}>`, '"mail/0a1b"'));
    expect(told).toEqual({ Records: [{ s3: { object: { key: "mail/0a1b" } } }] });
  });

  it("needs DNS records, which are among the outputs of the deployment", () => {
    const [output] = Object.values(triggers.findOutputs("MailDns0"));
    const records = JSON.stringify(output?.Value);
    expect(records).toContain("in.example.com MX 10 inbound-smtp.us-east-1.amazonaws.com");
    expect(records.match(/CNAME/g)).toHaveLength(3);
  });

  it("cannot be received in a stage without a mail domain", () => {
    for (const type of ["AWS::SES::ReceiptRuleSet", "AWS::SES::ReceiptRule", "AWS::SES::EmailIdentity"]) {
      personal.resourceCountIs(type, 0);
    }
  });
});
