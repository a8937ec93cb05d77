import { type IMetric, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import { FilterPattern, type IFilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "sst/constructs";
import { type LambdaName, lambdas } from "../engine/lambdas.ts";
import type { Engine } from "../engine.ts";
import type { Storage } from "../storage.ts";

const namespace = "NOVA";
const period = Duration.minutes(5);

export type Watched = Pick<Storage, "table"> & Pick<Engine, "functions" | "logs" | "undelivered">;
export type Metrics = ReturnType<typeof createMetrics>;

/** Numbers about runs, from the lines that functions log (functions/app.ts and lambda.ts), beside those that AWS keeps. */
export function createMetrics(stack: Stack, { table, functions, logs, undelivered }: Watched) {
  const counted = (name: string, pattern: IFilterPattern, value = "1"): Metric => {
    const filter = { logGroup: logs, filterPattern: pattern, metricNamespace: namespace, metricName: name };
    new MetricFilter(stack, name, { ...filter, metricValue: value });
    return new Metric({ namespace, metricName: name, statistic: Stats.SUM, period });
  };
  const ofEach = (metric: (name: LambdaName) => IMetric) =>
    Object.fromEntries(Object.keys(lambdas).map((name) => [name, metric(name as LambdaName)])) as Record<
      LambdaName,
      IMetric
    >;
  const runNode = functions["nova-run-node"];
  return {
    completed: counted("RunsCompleted", message("execution.completed")),
    failed: counted("RunsFailed", message("execution.failed")),
    waiting: counted("RunsWaiting", message("execution.waiting")),
    modelUsd: counted("ModelUsd", FilterPattern.exists("$.detail.cost_usd"), "$.detail.cost_usd"),
    sandboxErrors: counted(
      "SandboxErrors",
      FilterPattern.any(message("SandboxUnavailable"), message("NodeInterrupted")),
    ),
    unswept: counted("Unswept", message("executions and tasks that cannot be swept")),
    nodeTime: [Stats.p(50), Stats.p(95)].map((statistic) => runNode.metricDuration({ statistic, period })),
    invocations: ofEach((name) => functions[name].metricInvocations({ period })),
    errors: ofEach((name) => functions[name].metricErrors({ period })),
    throttles: ofEach((name) => functions[name].metricThrottles({ period })),
    undelivered: undelivered.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    tableThrottles: table.metricThrottledRequestsForOperations({
      operations: [Operation.PUT_ITEM, Operation.QUERY, Operation.UPDATE_ITEM],
      period,
    }),
  };
}

function message(text: string): ReturnType<typeof FilterPattern.stringValue> {
  return FilterPattern.stringValue("$.message", "=", text);
}
