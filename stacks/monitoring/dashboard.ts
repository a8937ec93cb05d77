import { Dashboard, GraphWidget, type IMetric, type IWidget, SingleValueWidget } from "aws-cdk-lib/aws-cloudwatch";
import type { Stack } from "../sst.ts";
import type { Metrics } from "./metrics.ts";

/** Creates the dashboard: common questions first (runs, failures, cost), then details for operators. */
export function createDashboard(stack: Stack, metrics: Metrics): void {
  const { completed, failed, waiting, queued, refused, modelUsd, sandboxes, sandboxErrors } = metrics;
  const inTheTimeShown = { title: "In the time shown", metrics: [completed, failed, waiting, modelUsd] };
  const sandboxesHad = [sandboxes.inUse, sandboxes.made, sandboxes.takenOver];
  const { undelivered, unpublished, notPublished, unswept, requests, requestsFailed, requestTime } = metrics;
  const throttles = [...Object.values(metrics.throttles), metrics.tableThrottles];
  new Dashboard(stack, "Dashboard", {
    dashboardName: `nova-${stack.stage}`,
    widgets: [
      [new SingleValueWidget({ ...inTheTimeShown, width: 24, setPeriodToTimeRange: true }) as IWidget],
      [graph("Runs", [completed, failed, waiting, queued]), graph("Model cost, $", [modelUsd])],
      [graph("Requests", [...requests, requestsFailed]), graph("Request time, ms", requestTime)],
      [graph("Node time, ms", metrics.nodeTime), graph("Sandbox errors", [sandboxErrors])],
      [graph("Sandboxes", sandboxesHad), graph("Seconds of sandbox paid", [sandboxes.secondsPaid])],
      [graph("Waiting for a new sandbox, ms", [sandboxes.waited]), graph("Cannot be swept", [unswept])],
      [graph("Errors of functions", Object.values(metrics.errors)), graph("Throttles", throttles)],
      [graph("Deliveries refused", [refused]), graph("Publications failed", [notPublished, unpublished])],
      [graph("Undelivered events", [undelivered])],
    ],
  });
}

function graph(title: string, left: IMetric[]): IWidget {
  return new GraphWidget({ title, left, width: 12 }) as IWidget;
}
