import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  SingleValueWidget,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type IFilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Duration } from "aws-cdk-lib/core";
import { api } from "./api.ts";
import { engine } from "./engine.ts";
import { type Stack, type StackContext, use } from "./sst.ts";
import { storage } from "./storage.ts";
import { triggers } from "./triggers.ts";

/** Creates the stack of the dashboard and the alarms. */
export function monitoring({ stack }: StackContext): void {
  const metrics = createMetrics(stack);
  createAlarms(stack, metrics, process.env.NOVA_ALARM_MAIL);
  createDashboard(stack, metrics);
}

const namespace = "NOVA";
const period = Duration.minutes(5);
/** The interval of the sweep. The metrics assume that the counts of a sweep stay the same until the next sweep. */
const sweepSeconds = 60;

type Metrics = ReturnType<typeof createMetrics>;

/** Creates metrics from the log lines of functions (functions/app.ts and lambda.ts), and adds AWS's own metrics. */
function createMetrics(stack: Stack) {
  const { table } = use(storage);
  const { functions: engineFunctions, logs, undelivered } = use(engine);
  const { functions: triggerFunctions, unpublished } = use(triggers);
  const { functions: apiFunctions, http } = use(api);
  const functions = { ...engineFunctions, ...triggerFunctions, ...apiFunctions };
  const counted = (name: string, pattern: IFilterPattern, value = "1", statistic: string = Stats.SUM): Metric => {
    const filter = { logGroup: logs, filterPattern: pattern, metricNamespace: namespace, metricName: name };
    new MetricFilter(stack, name, { ...filter, metricValue: value });
    return new Metric({ namespace, metricName: name, statistic, period });
  };
  const ofEach = (metric: (lambda: IFunction) => IMetric) => {
    const metrics = Object.entries(functions).map(([name, lambda]) => [name, metric(lambda)]);
    return Object.fromEntries(metrics) as Record<keyof typeof functions, IMetric>;
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
    broken: counted("ChainsBroken", message("chain broken")),
    unswept: counted("Unswept", message("executions and tasks that cannot be swept")),
    nodeTime: [Stats.p(50), Stats.p(95)].map((statistic) => runNode.metricDuration({ statistic, period })),
    invocations: ofEach((lambda) => lambda.metricInvocations({ period })),
    errors: ofEach((lambda) => lambda.metricErrors({ period })),
    throttles: ofEach((lambda) => lambda.metricThrottles({ period })),
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

interface AlarmPlan {
  /** The meaning of the alarm and what to do, which the operator reads first. */
  meaning: string;
  metric: IMetric;
  /** The threshold. The alarm is raised if the metric has reached it for `periods` times five minutes in a row. */
  from: number;
  periods?: number;
  /** True: the alarm is raised below the threshold, and also without data. */
  bySilence?: true;
}

/**
 * Returns the alarms by name. There is no alarm for errors of the function nova-run-node, because each failed node
 * causes such an error.
 */
function listAlarms(metrics: Metrics): Record<string, AlarmPlan> {
  const quietly = Object.entries(metrics.errors).filter(([name]) => name !== "nova-run-node");
  const errors = quietly.map(([name, metric]): [string, AlarmPlan] => {
    return [`${name}-errors`, { metric, from: 3, meaning: `${name} fails: read its errors in the log group.` }];
  });
  const throttles = Object.entries(metrics.throttles).map(([name, metric]): [string, AlarmPlan] => {
    const meaning = `${name} is throttled: raise the account's concurrency of Lambda.`;
    return [`${name}-throttled`, { metric, from: 10, meaning }];
  });
  return {
    RunsFail: { metric: metrics.failed, from: 5, meaning: "Runs fail: `nova executions --status failed` lists them." },
    SandboxesFail: {
      metric: metrics.sandboxErrors,
      from: 20,
      meaning: "E2B refuses or loses sandboxes: look at its limits and its status page.",
    },
    ChainsDoNotVerify: {
      metric: metrics.broken,
      from: 1,
      meaning: "Chains of work do not verify: `chain broken` in the log names the runs; `nova verify <run>` explains.",
    },
    SweepFails: {
      metric: metrics.unswept,
      from: 1,
      periods: 3,
      meaning: "Some executions cannot be swept; the log line names them and the reason.",
    },
    SweepStopped: {
      metric: metrics.invocations["nova-sweep"],
      from: 1,
      periods: 2,
      bySilence: true,
      meaning: "The sweep does not run: look at its schedule, and at the concurrency of Lambda.",
    },
    EventsUndelivered: {
      metric: metrics.undelivered,
      from: 1,
      meaning: "Events that no function could take are in the queue; read the error there, then move them back.",
    },
    PublicationsFail: {
      metric: metrics.unpublished,
      from: 1,
      meaning: "Publications fail for another reason than their definition: read the errors of nova-publish.",
    },
    RequestsFail: {
      metric: metrics.requestsFailed,
      from: 10,
      meaning: "The API answers 5xx: read `request failed` in the log group, and GET /health.",
    },
    TableThrottled: {
      metric: metrics.tableThrottles,
      from: 100,
      meaning: "DynamoDB throttles: a partition is too hot, or the account's limit too low.",
    },
    ...Object.fromEntries([...errors, ...throttles]),
  };
}

/**
 * Creates the alarms. AWS sends them to the mail address `mail` after the owner of the address has confirmed the
 * subscription.
 */
function createAlarms(stack: Stack, metrics: Metrics, mail: string | undefined): void {
  const topic = new Topic(stack, "Alarms", { enforceSSL: true });
  if (mail) topic.addSubscription(new EmailSubscription(mail));
  const tell = new SnsAction(topic);
  for (const [id, { metric, from, periods = 1, bySilence, meaning }] of Object.entries(listAlarms(metrics))) {
    new Alarm(stack, id, {
      alarmDescription: meaning,
      metric,
      threshold: from,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator[bySilence ? "LESS_THAN_THRESHOLD" : "GREATER_THAN_OR_EQUAL_TO_THRESHOLD"],
      treatMissingData: TreatMissingData[bySilence ? "BREACHING" : "NOT_BREACHING"],
    }).addAlarmAction(tell);
  }
}

/** Creates the dashboard: common questions first (runs, failures, cost), then details for operators. */
function createDashboard(stack: Stack, metrics: Metrics): void {
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
