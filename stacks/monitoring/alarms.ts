import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Stack } from "sst/constructs";
import type { Metrics } from "./metrics.ts";

interface Watch {
  /** What it means, and what to do: the first thing that the woken person reads. */
  meaning: string;
  metric: IMetric;
  /** Raised at so many, in `periods` times five minutes in a row. */
  from: number;
  periods?: number;
  /** Raised below so many, by silence too. */
  bySilence?: true;
}

/** Names of alarms, and when they are raised. Errors of run-node are none: that is how a node fails. */
function watches(metrics: Metrics): Record<string, Watch> {
  const quietly = Object.entries(metrics.errors).filter(([name]) => name !== "nova-run-node");
  const errors = quietly.map(([name, metric]): [string, Watch] => {
    return [`${name}-errors`, { metric, from: 3, meaning: `${name} fails: read its errors in the log group.` }];
  });
  const throttles = Object.entries(metrics.throttles).map(([name, metric]): [string, Watch] => {
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

/** `mail` gets them, once its owner has confirmed. */
export function createAlarms(stack: Stack, metrics: Metrics, mail: string | undefined): void {
  const topic = new Topic(stack, "Alarms", { enforceSSL: true });
  if (mail) topic.addSubscription(new EmailSubscription(mail));
  const tell = new SnsAction(topic);
  for (const [id, { metric, from, periods = 1, bySilence, meaning }] of Object.entries(watches(metrics))) {
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
