import type { HttpStage } from "aws-cdk-lib/aws-apigatewayv2";
import { type IMetric, MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type IFilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Duration } from "aws-cdk-lib/core";
import type { Engine } from "../engine.ts";
import { type LambdaName, lambdas } from "../lambdas.ts";
import type { Stack } from "../sst.ts";
import type { Storage } from "../storage.ts";

const namespace = "NOVA";
const period = Duration.minutes(5);
/** The sweeper's counts are assumed to hold until its next run. */
const sweepSeconds = 60;

export interface Watched extends Pick<Storage, "table">, Pick<Engine, "logs" | "undelivered"> {
  functions: Record<LambdaName, IFunction>;
  unpublished: Queue;
  http: HttpStage;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Creates metrics of runs from the log lines of functions (functions/app.ts and lambda.ts), in addition to those of
 * AWS.
 */
export function createMetrics(stack: Stack, watched: Watched) {
  const { table, functions, logs, undelivered, unpublished, http } = watched;
  const counted = (name: string, pattern: IFilterPattern, value = "1", statistic: string = Stats.SUM): Metric => {
    const filter = { logGroup: logs, filterPattern: pattern, metricNamespace: namespace, metricName: name };
    new MetricFilter(stack, name, { ...filter, metricValue: value });
    return new Metric({ namespace, metricName: name, statistic, period });
  };
  const ofEach = (metric: (name: LambdaName) => IMetric) => {
    const metrics = Object.keys(lambdas).map((name) => [name, metric(name as LambdaName)]);
    return Object.fromEntries(metrics) as Record<LambdaName, IMetric>;
  };
  const runNode = functions["nova-run-node"];
  const lostSandbox = FilterPattern.any(message("SandboxUnavailable"), message("NodeInterrupted"));
  const inUse = counted("SandboxesInUse", message("swept"), "$.sandboxes");
  return {
    completed: counted("RunsCompleted", message("execution.completed")),
    failed: counted("RunsFailed", message("execution.failed")),
    waiting: counted("RunsWaiting", message("execution.waiting")),
    queued: counted("RunsQueued", message("swept"), "$.queued", Stats.MAXIMUM),
    refused: counted("DeliveriesRefused", message("delivery refused")),
    notPublished: counted("PublicationsFailed", message("publication failed")),
    modelUsd: counted("ModelUsd", FilterPattern.exists("$.detail.cost_usd"), "$.detail.cost_usd"),
    sandboxErrors: counted("SandboxErrors", lostSandbox),
    sandboxes: {
      inUse: inUse.with({ statistic: Stats.MAXIMUM }),
      secondsPaid: new MathExpression({
        label: "SandboxSecondsPaid",
        expression: `${sweepSeconds} * sandboxes`,
        usingMetrics: { sandboxes: inUse },
        period,
      }),
      made: counted("SandboxesMade", message("sandbox made")),
      takenOver: counted("SandboxesTakenOver", message("sandbox taken over")),
      waited: counted("SandboxWait", FilterPattern.exists("$.numbers.wait_ms"), "$.numbers.wait_ms", Stats.p(95)),
    },
    unswept: counted("Unswept", message("executions and tasks that cannot be swept")),
    nodeTime: [Stats.p(50), Stats.p(95)].map((statistic) => runNode.metricDuration({ statistic, period })),
    invocations: ofEach((name) => functions[name].metricInvocations({ period })),
    errors: ofEach((name) => functions[name].metricErrors({ period })),
    throttles: ofEach((name) => functions[name].metricThrottles({ period })),
    undelivered: undelivered.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    unpublished: unpublished.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    requests: [http.metricCount({ period }), http.metricClientError({ period })],
    requestsFailed: http.metricServerError({ period }),
    requestTime: [Stats.p(50), Stats.p(95)].map((statistic) => http.metricLatency({ statistic, period })),
    tableThrottles: table.metricThrottledRequestsForOperations({
      operations: [Operation.PUT_ITEM, Operation.QUERY, Operation.UPDATE_ITEM],
      period,
    }),
  };
}

function message(text: string): ReturnType<typeof FilterPattern.stringValue> {
  return FilterPattern.stringValue("$.message", "=", text);
}
