import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { lambdas } from "../../stacks/stacks.ts";
import { stacksOf } from "../support/stacks.ts";

let monitoring: Template;

beforeAll(async () => {
  monitoring = (await stacksOf("production")).templates.monitoring;
});

describe("the metrics of a deployment", () => {
  it.each([
    ["RunsCompleted", '{ $.message = "execution.completed" }'],
    ["RunsFailed", '{ $.message = "execution.failed" }'],
    ["RunsWaiting", '{ $.message = "execution.waiting" }'],
    ["SandboxErrors", '{ ($.message = "SandboxUnavailable") || ($.message = "NodeInterrupted") }'],
    ["SandboxesMade", '{ $.message = "sandbox made" }'],
    ["SandboxesTakenOver", '{ $.message = "sandbox taken over" }'],
    ["DeliveriesRefused", '{ $.message = "delivery refused" }'],
    ["PublicationsFailed", '{ $.message = "publication failed" }'],
    ["Unswept", '{ $.message = "executions and tasks that cannot be swept" }'],
  ])("count %s by the log lines that match %s", (MetricName, FilterPattern) => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern,
      MetricTransformations: [{ MetricName, MetricNamespace: "NOVA", MetricValue: "1" }],
    });
  });

  it.each([
    ["RunsQueued", "$.queued"],
    ["SandboxesInUse", "$.sandboxes"],
  ])("take %s from the field %s in the log line of a sweep", (MetricName, MetricValue) => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern: '{ $.message = "swept" }',
      MetricTransformations: [{ MetricName, MetricValue }],
    });
  });

  it("add up the cost of models from the log lines of ended runs", () => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern: '{ $.detail.cost_usd = "*" }',
      MetricTransformations: [{ MetricName: "ModelUsd", MetricValue: "$.detail.cost_usd" }],
    });
  });
});

describe("the alarms of a deployment", () => {
  const alarms = () => Object.values(monitoring.findResources("AWS::CloudWatch::Alarm")).map((one) => one.Properties);

  it("explain what they mean, and notify a person", () => {
    expect(alarms().length).toBeGreaterThan(15);
    for (const { AlarmDescription, AlarmActions } of alarms()) {
      expect(AlarmDescription).toMatch(/^\S.{20,}\.$/);
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Alarms/) }]);
    }
  });

  it("do not count the failure of a node as the failure of a Lambda function", () => {
    const errors = alarms().filter(({ MetricName }) => MetricName === "Errors");
    expect(errors).toHaveLength(Object.keys(lambdas).length - 1);
    expect(JSON.stringify(errors)).not.toContain("nova-run-node");
  });

  it.each([
    ["a chain of work that does not verify", "ChainsBroken", 1],
    ["publications that fail because of NOVA", "Unpublished", 1],
    ["answers of the API that report an error of NOVA", "ApiId", 10],
  ])("include an alarm for %s", (_, dimension, Threshold) => {
    const [alarm] = alarms().filter((one) => one.Threshold === Threshold && JSON.stringify(one).includes(dimension));
    expect(alarm?.TreatMissingData).toBe("notBreaching");
  });

  it("include an alarm that is raised if the sweep has stopped and sends no data", () => {
    monitoring.hasResourceProperties("AWS::CloudWatch::Alarm", {
      AlarmDescription: Match.stringLikeRegexp("sweep does not run"),
      TreatMissingData: "breaching",
      ComparisonOperator: "LessThanThreshold",
    });
  });
});

it("the dashboard shows runs, failures, cost, node time and sandbox errors on one page", () => {
  const [{ Properties } = { Properties: {} }] = Object.values(monitoring.findResources("AWS::CloudWatch::Dashboard"));
  expect(Properties.DashboardName).toBe("nova-production");
  const body = JSON.stringify(Properties.DashboardBody);
  const others = ["Requests", "Request time, ms", "Deliveries refused", "Publications failed"];
  for (const title of ["Runs", "Model cost, $", "Node time, ms", "Sandbox errors", "Undelivered events", ...others]) {
    expect(body).toContain(`\\"title\\":\\"${title}\\"`);
  }
});
