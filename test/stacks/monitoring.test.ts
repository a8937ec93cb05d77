import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { lambdas } from "../../stacks/stacks.ts";
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
    ["SandboxesMade", '{ $.message = "sandbox made" }'],
    ["SandboxesTakenOver", '{ $.message = "sandbox taken over" }'],
    ["DeliveriesRefused", '{ $.message = "delivery refused" }'],
    ["PublicationsFailed", '{ $.message = "publication failed" }'],
    ["Unswept", '{ $.message = "executions and tasks that cannot be swept" }'],
  ])("count %s by the log lines %s", (MetricName, FilterPattern) => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern,
      MetricTransformations: [{ MetricName, MetricNamespace: "NOVA", MetricValue: "1" }],
    });
  });

  it.each([
    ["RunsQueued", "$.queued"],
    ["SandboxesInUse", "$.sandboxes"],
  ])("read %s from the line of the sweep", (MetricName, MetricValue) => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern: '{ $.message = "swept" }',
      MetricTransformations: [{ MetricName, MetricValue }],
    });
  });

  it("add up the cost of models from the lines of ended runs", () => {
    monitoring.hasResourceProperties("AWS::Logs::MetricFilter", {
      FilterPattern: '{ $.detail.cost_usd = "*" }',
      MetricTransformations: [{ MetricName: "ModelUsd", MetricValue: "$.detail.cost_usd" }],
    });
  });
});

describe("the alarms", () => {
  const alarms = () => Object.values(monitoring.findResources("AWS::CloudWatch::Alarm")).map((one) => one.Properties);

  it("have a meaning, and notify a person", () => {
    expect(alarms().length).toBeGreaterThan(15);
    for (const { AlarmDescription, AlarmActions } of alarms()) {
      expect(AlarmDescription).toMatch(/^\S.{20,}\.$/);
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Alarms/) }]);
    }
  });

  it("count no failing node as a failing function", () => {
    const errors = alarms().filter(({ MetricName }) => MetricName === "Errors");
    expect(errors).toHaveLength(Object.keys(lambdas).length - 1);
    expect(JSON.stringify(errors)).not.toContain("nova-run-node");
  });

  it.each([
    ["publications that fail because of NOVA", "Unpublished", 1],
    ["answers of the API that report an error of NOVA", "ApiId", 10],
  ])("cover %s", (_, dimension, Threshold) => {
    const [alarm] = alarms().filter((one) => one.Threshold === Threshold && JSON.stringify(one).includes(dimension));
    expect(alarm?.TreatMissingData).toBe("notBreaching");
  });

  it("are raised if the sweep has stopped, although it then sends no data", () => {
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
