import { createEventRules, createSchedules } from "@nova/aws";
import type { EventRule } from "@nova/service";
import { beforeAll, describe, expect, it } from "vitest";
import { resourceName, ruleRefused, targetRefused } from "../../packages/aws/src/triggers.ts";
import { useScriptedService } from "./support/scripted-service.ts";

const bridge = useScriptedService("AWS_ENDPOINT_URL_EVENTBRIDGE");
const scheduler = useScriptedService("AWS_ENDPOINT_URL_SCHEDULER");

const functionOf = (name: string) => `arn:aws:lambda:us-east-1:123456789012:function:${name}:live`;
const options = {
  busName: "nova-test",
  scheduleGroup: "nova-prod",
  deadLetterArn: "arn:aws:sqs:us-east-1:123456789012:undelivered",
  scheduleRoleArn: "arn:aws:iam::123456789012:role/nova-schedules",
  fireTriggerArn: functionOf("nova-fire-trigger"),
  pollMailboxArn: functionOf("nova-poll-mailbox"),
};

let schedules: ReturnType<typeof createSchedules>;
let eventRules: ReturnType<typeof createEventRules>;

beforeAll(() => {
  schedules = createSchedules(options);
  eventRules = createEventRules(options);
});

const nightly = { workflow: "report", trigger: "nightly" };
const name = resourceName(nightly);
const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 86_400 };

describe("the name of the AWS rule or schedule of a trigger", () => {
  it("contains the workflow and the trigger, and is unique", () => {
    expect(name).toMatch(/^nova-report-nightly-[0-9a-f]{12}$/);
    const one = resourceName({ workflow: "a", trigger: "b-c" });
    expect(resourceName({ workflow: "a-b", trigger: "c" })).not.toBe(one);
  });

  it("has at most 64 characters", () => {
    const long = resourceName({ workflow: "w".repeat(63), trigger: "t".repeat(63) });
    expect(long).toMatch(/^nova-w{46}-[0-9a-f]{12}$/);
    expect(resourceName({ workflow: "w".repeat(63), trigger: "u".repeat(63) })).not.toBe(long);
  });
});

describe("a schedule of EventBridge Scheduler", () => {
  const operation = `POST /schedules/${name}`;
  const target = {
    Arn: functionOf("nova-fire-trigger"),
    RoleArn: "arn:aws:iam::123456789012:role/nova-schedules",
    Input: '{"workflow":"report","trigger":"nightly","scheduled_at":"<aws.scheduler.scheduled-time>"}',
    RetryPolicy: retries,
    DeadLetterConfig: { Arn: "arn:aws:sqs:us-east-1:123456789012:undelivered" },
  };

  it("is created with its target, retries and dead-letter queue", async () => {
    scheduler.steps = [{ operation, body: { ScheduleArn: "arn" } }];
    await schedules.put({ ...nightly, expression: "cron(0 2 * * ? *)", timezone: "Europe/Madrid" });
    const { Target, ...asked } = scheduler.asked[0]?.body ?? {};
    expect(asked).toMatchObject({
      ...{
        GroupName: "nova-prod",
        ScheduleExpression: "cron(0 2 * * ? *)",
        ScheduleExpressionTimezone: "Europe/Madrid",
      },
      FlexibleTimeWindow: { Mode: "OFF" },
      State: "ENABLED",
      Description: "Trigger nightly of workflow report",
    });
    expect(Target).toEqual(target);
  });

  const there = [
    { operation, status: 409, error: "ConflictException" },
    {
      operation: `GET /schedules/${name}`,
      body: {
        ScheduleExpression: "rate(10 minutes)",
        ScheduleExpressionTimezone: "UTC",
        State: "ENABLED",
        Target: target,
      },
    },
  ];

  it("is updated if a schedule with the same name exists and has other settings", async () => {
    scheduler.steps = [...there, { operation: `PUT /schedules/${name}`, body: { ScheduleArn: "arn" } }];
    await schedules.put({ ...nightly, expression: "rate(5 minutes)", firstAt: "2026-11-22T08:05:00.000Z" });
    expect(scheduler.asked[2]?.body).toMatchObject({
      ScheduleExpression: "rate(5 minutes)",
      ScheduleExpressionTimezone: "UTC",
      StartDate: Date.parse("2026-11-22T08:05:00Z") / 1000,
    });
  });

  it("is not updated if a schedule with the same name exists and has the same times", async () => {
    scheduler.steps = [...there];
    await schedules.put({ ...nightly, expression: "rate(10 minutes)", firstAt: "2026-11-22T08:05:00.000Z" });
  });

  it("has the Lambda that polls mailboxes as its target if its trigger is a mailbox trigger", async () => {
    scheduler.steps = [{ operation, body: { ScheduleArn: "arn" } }];
    await schedules.put({ ...nightly, expression: "rate(5 minutes)", polls: true });
    expect(scheduler.asked[0]?.body.Target.Arn).toBe(functionOf("nova-poll-mailbox"));
  });

  it("causes an error with Scheduler's reason if Scheduler refuses it", async () => {
    scheduler.steps = [{ operation, error: "ValidationException" }];
    const refused = schedules.put({ ...nightly, expression: "cron(x)" });
    await expect(refused).rejects.toMatchObject({
      name: "Refused",
      message: expect.stringMatching(/refuses trigger "nightly" of workflow "report": ValidationException/),
    });
  });

  it("causes an error with advice if it exceeds the quota", async () => {
    scheduler.steps = [{ operation, error: "ServiceQuotaExceededException", status: 402 }];
    await expect(schedules.put({ ...nightly, expression: "rate(5 minutes)" })).rejects.toMatchObject({
      name: "Refused",
      message: expect.stringMatching(/ - delete workflows with schedules, or ask AWS for more of them$/),
    });
  });

  it("causes the error StoreUnavailable if another process changes it at the same time", async () => {
    scheduler.steps = [...there, { operation: `PUT /schedules/${name}`, error: "ConflictException", status: 409 }];
    const put = schedules.put({ ...nightly, expression: "rate(5 minutes)" });
    await expect(put).rejects.toMatchObject({
      name: "StoreUnavailable",
      message: expect.stringMatching(/ - try again$/),
    });
  });

  it.each([undefined, "ResourceNotFoundException"])(
    "is removed without an error, even if it does not exist (%s)",
    async (error) => {
      scheduler.steps = [{ operation: `DELETE /schedules/${name}`, ...(error && { error, status: 404 }) }];
      await schedules.remove(nightly);
    },
  );
});

describe("a rule of EventBridge", () => {
  const rule: EventRule = { ...nightly, bus: "nova", pattern: { source: ["shop"] } };
  const gone = "ResourceNotFoundException";

  it("is created with the Lambda that starts runs as its target", async () => {
    bridge.steps = [
      { operation: "AWSEvents.PutRule", body: { RuleArn: "arn" } },
      { operation: "AWSEvents.PutTargets", body: { FailedEntryCount: 0, FailedEntries: [] } },
    ];
    await eventRules.put(rule);
    const [put, targets] = bridge.asked.map(({ body }) => body);
    expect(put).toMatchObject({
      Name: name,
      EventBusName: "nova-test",
      EventPattern: '{"source":["shop"]}',
      State: "ENABLED",
    });
    expect(targets).toMatchObject({ Rule: name, EventBusName: "nova-test" });
    expect(targets.Targets).toEqual([
      {
        Id: "fire",
        Arn: functionOf("nova-fire-trigger"),
        RetryPolicy: retries,
        InputTransformer: {
          InputTemplate: '{"workflow":"report","trigger":"nightly","event":<aws.events.event.json>}',
        },
        DeadLetterConfig: { Arn: "arn:aws:sqs:us-east-1:123456789012:undelivered" },
      },
    ]);
  });

  it.each([
    ["Oh", "Refused"],
    ["ThrottlingException", "StoreUnavailable"],
    ["ConcurrentModificationException", "StoreUnavailable"],
  ])("causes after the failure %s of its target the error %s", async (ErrorCode, name) => {
    bridge.steps = [
      { operation: "AWSEvents.PutRule", body: { RuleArn: "arn" } },
      {
        operation: "AWSEvents.PutTargets",
        body: { FailedEntryCount: 1, FailedEntries: [{ ErrorCode, ErrorMessage: "no" }] },
      },
    ];
    const message = expect.stringMatching(new RegExp(`has no target \\(${ErrorCode}: no\\)`));
    await expect(eventRules.put(rule)).rejects.toMatchObject({ name, message });
  });

  it("is refused if EventBridge does not accept its pattern", async () => {
    bridge.steps = [{ operation: "AWSEvents.PutRule", error: "InvalidEventPatternException" }];
    await expect(eventRules.put({ ...rule, bus: "default" })).rejects.toMatchObject({ name: "Refused" });
    expect(bridge.asked[0]?.body.EventBusName).toBe("default");
  });

  it.each<[string, [string | undefined, string | undefined]]>([
    ["exists", [undefined, undefined]],
    ["has lost its target", [gone, undefined]],
    ["does not exist", [gone, gone]],
  ])("is removed without an error if it %s", async (_, [targets, itself]) => {
    bridge.steps = [
      { operation: "AWSEvents.RemoveTargets", body: { FailedEntryCount: 0 }, ...(targets && { error: targets }) },
      { operation: "AWSEvents.DeleteRule", ...(itself && { error: itself }) },
    ];
    await eventRules.remove(rule);
  });
});

const rule: EventRule = { workflow: "report", trigger: "paid", bus: "nova", pattern: { source: ["shop"] } };
const error = (name: string) => Object.assign(new Error("EventBridge says no"), { name });

describe("a rule that EventBridge does not accept", () => {
  it.each([
    [
      "InvalidEventPatternException",
      "Refused",
      /^EventBridge refuses the pattern of trigger "paid".*: EventBridge says no/,
    ],
    ["LimitExceededException", "Refused", /no room for the rule of trigger "paid".* or ask AWS for more rules$/],
    [
      "ConcurrentModificationException",
      "StoreUnavailable",
      /was changing trigger "paid" of workflow "report" - try again$/,
    ],
    ["AccessDeniedException", "AccessDeniedException", /^EventBridge says no$/],
  ])("because of %s causes the error %s", (given, name, message) => {
    expect(ruleRefused(rule, error(given))).toMatchObject({ name, message: expect.stringMatching(message) });
  });

  it("causes an error that has the error of EventBridge as its cause", () => {
    const cause = error("LimitExceededException");
    expect(ruleRefused(rule, cause)).toMatchObject({ cause });
    expect(ruleRefused(rule, "no error")).toBe("no error");
  });
});

describe("a rule whose target cannot be set", () => {
  it.each([
    ["ResourceNotFoundException", "Refused", /has no target \(ResourceNotFoundException: no\) - publish it again$/],
    ["ThrottlingException", "StoreUnavailable", /has no target \(ThrottlingException: no\) - try again$/],
    ["ConcurrentModificationException", "StoreUnavailable", / - try again$/],
  ])("because of %s causes the error %s", (ErrorCode, name, message) => {
    const refused = targetRefused(rule, { ErrorCode, ErrorMessage: "no" });
    expect(refused).toMatchObject({ name, message: expect.stringMatching(message) });
  });
});
