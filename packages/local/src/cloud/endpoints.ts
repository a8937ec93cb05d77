import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  arnOf,
  Deliveries,
  type DiskSpace,
  type EventPatterns,
  type InvokeLambda,
  type OnCreated,
  type ScheduleExpressions,
  type StandingRule,
} from "@nova/aws-local";
import type { E2bServer } from "@nova/e2b-local";
import type { StartInput } from "@nova/engine";
import { checkPattern, dueAfter, isTimeZone, type JsonObject, matchesPattern, parseExpression } from "@nova/workflow";
import type { Keys } from "./keys.ts";
import type { EndpointOptions } from "./local-cloud.ts";
import { type Progress, withProgress } from "./progress.ts";
import { readObject } from "./stores.ts";

/**
 * Opens all AWS services while E2B opens. They open at the same time, because a run can start only when the slowest of
 * them is open.
 */
export async function openEndpoints(
  options: EndpointOptions,
  { accessKeyId, secretAccessKey }: Keys,
  opening: Promise<E2bServer>,
  progress: Progress,
) {
  const { dataDir, disk, faults, fires, warn } = options;
  const invoke = pauseOnFullDisk(options.invokeLambda ?? createLambda(), disk);
  const common = { dataDir, disk, accessKeyId, secretAccessKey };
  const delivering = { ...common, invoke: (arn: string, text: string) => deliver(invoke, arn, text) };
  const mails = new Mails(options, invoke);
  const [e2b, dynamodb, s3, states, events, schedules, ses] = await Promise.all([
    opening,
    import("@nova/aws-local/dynamodb").then(({ openDynamoDb }) =>
      openDynamoDb({ ...common, ...(faults?.dynamodb && { faults: faults.dynamodb }) }),
    ),
    import("@nova/aws-local/s3").then(({ openS3 }) =>
      openS3({ ...common, onCreated: mails.onCreated, ...(faults?.s3 && { faults: faults.s3 }) }),
    ),
    import("@nova/aws-local/states").then(({ openStates }) =>
      openStates({
        ...common,
        // Executions continue later, because they need functions, and functions need endpoints that are not open yet.
        drives: false,
        invokeLambda: withProgress(invoke, progress),
        readObject,
        ownerOf: clientOf,
        // EventBridge does this in a deployment: it passes the status change to the function that receives status
        // changes. Afterwards the listeners are called.
        async onStatusChange(detail) {
          await deliver(invoke, functionArn("nova-execution-status"), JSON.stringify({ detail }));
          progress.end(detail.name);
        },
      }),
    ),
    import("@nova/aws-local/events").then(({ openEvents }) =>
      openEvents({ ...delivering, patterns, customBus: "nova", standing }),
    ),
    import("@nova/aws-local/schedules").then(({ openSchedules }) =>
      openSchedules({ ...delivering, expressions, groups: ["nova"], ...(warn && { warn }) }),
    ),
    import("@nova/aws-local/ses").then(({ openSes }) => openSes(common)),
  ]);
  const queues = [schedules, events.deliveries, mails];
  return {
    urls: {
      dynamodb: dynamodb.url,
      s3: s3.url,
      states: states.url,
      e2bApi: e2b.apiUrl,
      e2bSandbox: e2b.sandboxUrl,
      eventbridge: events.url,
      scheduler: schedules.url,
      sesv2: ses.url,
    },
    e2b,
    /** The services that this process calls directly, without a socket. */
    asked: [dynamodb, s3, states, events, schedules],
    /** Lets executions continue, and starts the work that fell due while no process was open. */
    drive() {
      states.live.drive();
      events.deliveries.drive();
      if (fires) schedules.fire();
      mails.drive();
    },
    isAtWork: () => states.live.isAtWork(),
    holdWork: ({ startsRun }: { startsRun: boolean }) => states.live.capacity.hold({ startsExecution: startsRun }),
    /**
     * Resolves when no function is at work. The data folder keeps the executions that wait then. They continue when the
     * folder is opened again.
     */
    async rest() {
      // The loop is needed because the end of a run is an event, and an event may start another run.
      do {
        for (const queue of queues) await queue.rest();
        await states.live.rest();
      } while (queues.some((queue) => queue.isBusy()));
    },
    /** Ends the executions whose functions are at work. Executions that wait stay open. */
    interrupt(error: string, cause: string): Promise<void> {
      disk.close();
      return states.live.stopBusy({ kind: "aborted", error, cause });
    },
    async close() {
      disk.close();
      await Promise.all([events.close(), schedules.close()]);
      mails.close();
      await states.close();
      await Promise.all([e2b.close(), s3.close(), dynamodb.close(), ses.close()]);
    },
  };
}

/**
 * Returns the client of a run from the input of its execution. Other callers of StartExecution, such as tests, name no
 * client.
 */
function clientOf(input: string): string {
  const { client } = JSON.parse(input) as Partial<StartInput>;
  return typeof client === "string" ? client : "";
}

/** Checks and matches event patterns as NOVA's compiler does. */
const patterns: EventPatterns = { check: checkPattern, matches: matchesPattern };

/** Reads schedule expressions as NOVA's compiler does. */
const expressions: ScheduleExpressions = {
  isTimeZone,
  read(text, timeZone) {
    const expression = parseExpression(text, timeZone);
    return expression && { nextAfter: (startMs, afterMs) => dueAfter(expression, startMs, afterMs) };
  },
};

/** The rules that the bus of every deployment has (stacks/engine.ts). */
const standing: StandingRule[] = [
  { pattern: { source: [{ "anything-but": ["nova"] }] }, functionArn: functionArn("nova-deliver-event") },
  ownEventRule("execution.failed", "nova-notify"),
  ownEventRule("execution.waiting", "nova-notify", { detail: { kind: ["approval"] } }),
  { ...ownEventRule("client.erasing", "nova-erase"), inTurn: true },
  { ...ownEventRule("workflow.publishing", "nova-publish"), inTurn: true },
];

function ownEventRule(type: string, name: string, more: JsonObject = {}): StandingRule {
  return { pattern: { source: ["nova"], "detail-type": [type], ...more }, functionArn: functionArn(name) };
}

function functionArn(name: string): string {
  return arnOf("lambda", `function:${name}:live`);
}

/** AWS Lambda tries an asynchronous event three times ("Asynchronous invocation"). */
const deliveries = 3;

/**
 * Creates the Lambda service with NOVA's functions. Starts to load the functions at once, because no other part of the
 * cloud takes as long to load.
 */
function createLambda(): InvokeLambda {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const loading = loadFunctions();
  return async (...call) => (await loading)(...call);
}

/** Delivers an event to a function. Returns false if every attempt failed. */
async function deliver(invoke: InvokeLambda, functionArn: string, payload: string): Promise<boolean> {
  for (let delivery = 1; delivery <= deliveries; delivery++) {
    if (delivery > 1) await sleep(1000);
    const result = await invoke(functionArn, payload).catch(() => ({ ok: false }));
    if (result.ok) return true;
  }
  return false;
}

/**
 * Loads the functions. The environment may still be incomplete, because functions read it when they are first invoked.
 */
async function loadFunctions(): Promise<InvokeLambda> {
  const [{ functions, serviceFunctions }, { createLambdaRuntime }] = await Promise.all([
    import("@nova/functions"),
    import("@nova/aws-local/lambda"),
  ]);
  return createLambdaRuntime({ ...functions, ...serviceFunctions });
}

/**
 * Wraps `invoke` for a full disk. While the disk is full, the wrapper invokes no function. If a function fails while
 * the disk is full, the wrapper invokes it again when the disk has space. So the execution pauses, and uses up no
 * retry. Functions tolerate a second invocation.
 */
export function pauseOnFullDisk(invoke: InvokeLambda, disk: DiskSpace): InvokeLambda {
  return async (...call) => {
    for (;;) {
      await disk.untilSpace();
      const result = await invoke(...call);
      if (result.ok || !disk.isWaiting) return result;
    }
  };
}

const folder = "mail/";

/** Delivers mails from the bucket to the function that receives them. */
export class Mails extends Deliveries {
  constructor({ dataDir, disk }: Pick<EndpointOptions, "dataDir" | "disk">, invoke: InvokeLambda) {
    super(join(dataDir, "incoming-mail"), (arn, payload) => deliver(invoke, arn, payload), disk);
  }

  /** Turns a stored mail into the notification that S3 sends to Lambda. */
  readonly onCreated: OnCreated = ({ bucket, key, bytes }) => {
    if (!key.startsWith(folder)) return;
    const object = { key: encodeURIComponent(key).replaceAll("%2F", "/"), size: bytes };
    const s3 = { bucket: { name: bucket }, object };
    const record = { eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 };
    const payload = JSON.stringify({ Records: [record] });
    this.add({ functionArn: functionArn("nova-receive-mail"), payload, inTurn: false });
  };
}
