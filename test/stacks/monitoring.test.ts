import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { stacksOf } from "../support/stacks.ts";

let monitoring: Template;

beforeAll(async () => {
  monitoring = (await stacksOf("production")).templates.monitoring;
});

describe("the metrics of runs", () => {
  it.each([
    ["RunsCompleted", '{ $.message = "execution.completed" }'],
    ["RunsFailed", '{ $.message = "execution.failed" }'],
    ["RunsWaiting", '{ $.message = "execution.waiting" }'],
    ["SandboxErrors", '{ ($.message = "SandboxUnavailable") || ($.message = "NodeInterrupted") }'],
    ["Unswept", '{ $.message = "executions and tasks that cannot be swept" }'],
  ])("count %s by the log lines %s", (MetricName, FilterPattern) => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern,
      MetricTransformations: [{ MetricName, MetricNamespace: "NOVA", MetricValue: "1" }],
    });
  });

  it("add up what models cost, as the line of an ended run says it", () => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern: '{ $.detail.cost_usd = "*" }',
      MetricTransformations: [{ MetricName: "ModelUsd", MetricValue: "$.detail.cost_usd" }],
    });
  });
});

describe("the alarms", () => {
  const alarms = () => Object.values(monitoring.findResources("AWS::CloudWatch::Alarm")).map((one) => one.Properties);

  it("say what they mean, and tell somebody", () => {
    expect(alarms().length).toBeGreaterThan(15);
    for (const { AlarmDescription, AlarmActions } of alarms()) {
      expect(AlarmDescription).toMatch(/^\S.{20,}\.$/);
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Alarms/) }]);
    }
  });

  it("never take a node that fails for a function that fails", () => {
    const errors = alarms().filter(({ MetricName }) => MetricName === "Errors");
    expect(errors).toHaveLength(6);
    expect(JSON.stringify(errors)).not.toContain("nova-run-node");
  });

  it("are raised by silence where it means that nobody sweeps", () => {
    monitoring.hasResourceProperties("AWS::CloudWatch::Alarm", {
      AlarmDescription: Match.stringLikeRegexp("sweep does not run"),
      TreatMissingData: "breaching",
      ComparisonOperator: "LessThanThreshold",
    });
  });
});

it("shows runs, failures, cost, node time and sandbox errors on one page", () => {
  const [{ Properties } = { Properties: {} }] = Object.values(monitoring.findResources("AWS::CloudWatch::Dashboard"));
  expect(Properties.DashboardName).toBe("nova-production");
  const body = JSON.stringify(Properties.DashboardBody);
  for (const title of ["Runs", "Model cost, $", "Node time, ms", "Sandbox errors", "Undelivered events"]) {
    expect(body).toContain(`\\"title\\":\\"${title}\\"`);
  }
});
