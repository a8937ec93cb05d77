import type { DynamoDbServer } from "../dynamodb/server.ts";
import type { E2bServer } from "../e2b/open.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { region } from "./environment.ts";
import { openEventsAndSchedules } from "./events-and-schedules.ts";
import { withProgress } from "./invocations.ts";
import type { Keys } from "./keys.ts";
import { createLambda, deliver, functionArn, whenThereIsRoom } from "./lambda.ts";
import type { RoomyOptions } from "./local-cloud.ts";
import { Mails } from "./mails.ts";
import type { Endpoints } from "./owner-file.ts";
import type { Progress } from "./progress.ts";
import { readObject } from "./stores.ts";

export interface OpenedEndpoints {
  urls: Omit<Endpoints, "admin">;
  e2b: E2bServer;
  dynamodb: Pick<DynamoDbServer, "url" | "answer">;
  /** Lets executions go on: what fell due while nobody was there happens. */
  drive(): void;
  /** Before closing: resolves when no function is at work. What waits by then is parked in the data folder. */
  rest(): Promise<void>;
  /** Ends what is at work; what waits stays. */
  interrupt(error: string, cause: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * DynamoDB, S3 and Step Functions with its Lambdas, beside E2B, which is opening already: the slowest decides when a
 * run begins.
 */
export async function openEndpoints(
  options: RoomyOptions,
  keys: Keys,
  opening: Promise<E2bServer>,
  progress: Progress,
): Promise<OpenedEndpoints> {
  const invoke = whenThereIsRoom(options.invokeLambda ?? createLambda(), options.room);
  const { dataDir, room, faults } = options;
  const { accessKeyId, secretAccessKey } = keys;
  const common = { dataDir, room, accessKeyId, secretAccessKey };
  const mails = new Mails(options, invoke);
  const [e2b, dynamodb, s3, states, events, ses] = await Promise.all([
    opening,
    import("../dynamodb/server.ts").then(({ openDynamoDb }) =>
      openDynamoDb({ ...common, ...(faults?.dynamodb && { faults: faults.dynamodb }) }),
    ),
    import("../s3/server.ts").then(({ openS3 }) =>
      openS3({ ...common, onCreated: mails.onCreated, ...(faults?.s3 && { faults: faults.s3 }) }),
    ),
    openStatesWith(options, keys, invoke, progress),
    openEventsAndSchedules(options, keys, invoke),
    import("../ses/open-ses.ts").then(({ openSes }) => openSes(common)),
  ]);
  return {
    urls: {
      dynamodb: dynamodb.url,
      s3: s3.url,
      states: states.url,
      e2bApi: e2b.apiUrl,
      e2bSandbox: e2b.sandboxUrl,
      ...events.urls,
      sesv2: ses.url,
    },
    e2b,
    dynamodb,
    drive() {
      states.drive();
      events.drive();
      mails.drive();
    },
    async rest() {
      // Runs that end are events, and events start runs.
      do {
        await events.rest();
        await mails.rest();
        await states.rest();
      } while (events.isBusy() || mails.isBusy());
    },
    interrupt(error, cause) {
      options.room.close();
      return states.stopBusy({ kind: "aborted", error, cause });
    },
    async close() {
      options.room.close();
      await events.close();
      mails.close();
      await states.close();
      await Promise.all([e2b.close(), s3.close(), dynamodb.close(), ses.close()]);
    },
  };
}

async function openStatesWith(
  { dataDir, room }: RoomyOptions,
  { accessKeyId, secretAccessKey }: Keys,
  invoke: InvokeLambda,
  progress: Progress,
) {
  const { openStates } = await import("../states/open-states.ts");
  return openStates({
    ...{ dataDir, room, accessKeyId, secretAccessKey, region },
    // Functions have nothing to work with before everything is open.
    drives: false,
    invokeLambda: withProgress(invoke, progress),
    readObject,
    // EventBridge's part: the function that is subscribed to status changes, then whoever waits.
    async onStatusChange(detail) {
      await deliver(invoke, functionArn("nova-execution-status"), JSON.stringify({ detail }));
      progress.end(detail.name);
    },
  });
}
