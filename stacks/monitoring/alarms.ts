import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Stack } from "../sst.ts";
import type { Metrics } from "./metrics.ts";

interface AlarmPlan {
  /** The meaning and the way out: the first thing that the operator reads. */
  meaning: string;
  metric: IMetric;
  /** The threshold, for `periods` times five minutes in a row. */
  from: number;
  periods?: number;
  /** Raises the alarm below the threshold, and also without data. */
  bySilence?: true;
}

/** Returns the alarms by name. Errors of run-node raise none, because a failing node ends that way. */
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

/** Creates the alarms. They go to `mail` after its owner confirms the subscription. */
export function createAlarms(stack: Stack, metrics: Metrics, mail: string | undefined): void {
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
