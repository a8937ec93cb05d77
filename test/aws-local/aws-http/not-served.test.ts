import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as dynamoDb from "@aws-sdk/client-dynamodb";
import * as events from "@aws-sdk/client-eventbridge";
import * as s3 from "@aws-sdk/client-s3";
import * as scheduler from "@aws-sdk/client-scheduler";
import * as ses from "@aws-sdk/client-sesv2";
import * as states from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";
import { openEvents } from "../../../packages/aws-local/src/events/open-events.ts";
import { openS3 } from "../../../packages/aws-local/src/s3/server.ts";
import { openSchedules } from "../../../packages/aws-local/src/schedules/open-schedules.ts";
import { openSes } from "../../../packages/aws-local/src/ses/open-ses.ts";
import { openStates } from "../../../packages/aws-local/src/states/open-states.ts";
import { expressions, patterns } from "../support/languages.ts";
import { signedFetch } from "../support/signed.ts";

const key = { accessKeyId: "key", secretAccessKey: "s" };
const delivered = async () => true;

let dataDir: string;
const opened: { url: string; close(): Promise<unknown> }[] = [];
const urls: Record<string, string> = {};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-not-served-"));
  const all = { dataDir, ...key };
  const invokeLambda = async () => ({ ok: true as const, payload: "{}" });
  const servers = {
    dynamodb: await openDynamoDb(all),
    s3: await openS3(all),
    states: await openStates({ ...all, invokeLambda, onStatusChange() {} }),
    events: await openEvents({ ...all, patterns, customBus: "nova", invoke: delivered }),
    scheduler: await openSchedules({ ...all, expressions, invoke: delivered }),
    ses: await openSes(all),
  };
  for (const [name, server] of Object.entries(servers)) {
    opened.push(server);
    urls[name] = server.url;
  }
});
afterAll(async () => {
  await Promise.all(opened.map((server) => server.close()));
  await rm(dataDir, { recursive: true });
});

interface Command {
  /**
   * The SDK's schema of the operation. The third element is the operation's name, and the fourth has its HTTP method
   * and path.
   */
  schema: [unknown, unknown, name: string, traits: { http?: [string, path: string] } | number];
}

/**
 * Returns a request for every operation of an SDK. The request has a value for each variable in the path of the
 * operation.
 */
function commandsOf(sdk: object): { name: string; command: Command }[] {
  const classes = Object.entries(sdk).filter(([name]) => /^[A-Z].*Command$/.test(name));
  return classes.map(([, Class]) => {
    const [, , name, traits] = (new Class({}) as Command).schema;
    const path = typeof traits === "object" ? (traits.http?.[1] ?? "") : "";
    const labels = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, label]) => [label, "x"]);
    return {
      name,
      command: new Class({ Bucket: "bucket", UploadId: "x", CopySource: "a/b", ...Object.fromEntries(labels) }),
    };
  });
}

/** Discards the SDK's warnings about requests without a body. */
const logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

type Send = (command: never) => Promise<unknown>;

const services: [name: string, Client: new (config: object) => { send: Send; destroy(): void }, sdk: object, number][] =
  [
    ["dynamodb", dynamoDb.DynamoDBClient, dynamoDb, 11],
    ["s3", s3.S3Client, s3, 10],
    ["states", states.SFNClient, states, 14],
    ["events", events.EventBridgeClient, events, 8],
    ["scheduler", scheduler.SchedulerClient, scheduler, 5],
    ["ses", ses.SESv2Client, ses, 1],
  ];

/** The error that a service returns for an unknown operation, if it is not `UnknownOperationException`. */
const refusalOf: Record<string, string> = { s3: "NotImplemented", ses: "NotFoundException" };

/**
 * Operations that the test leaves out, because their requests look exactly like those of an operation that the local S3
 * supports.
 */
const indistinguishable = ["ListDirectoryBuckets"];

describe.each(services)("an operation that the local %s does not have", (service, Client, sdk) => {
  it("is refused with AWS's error name, and with a sentence that names the operations that exist", {
    timeout: 60_000,
  }, async () => {
    const client = new Client({
      endpoint: urls[service],
      region: "us-east-1",
      credentials: key,
      maxAttempts: 1,
      forcePathStyle: true,
      disableS3ExpressSessionAuth: true,
      disableHostPrefix: true,
      logger,
    });
    const refusals: Error[] = [];
    const answered: string[] = [];
    for (const { name, command } of commandsOf(sdk)) {
      const refusal = await client.send(command as never).catch((error: Error) => error);
      if (refusal instanceof Error && refusal.message.includes("does not serve")) refusals.push(refusal);
      else answered.push(name);
    }
    client.destroy();
    expect(new Set(refusals.map(({ name }) => name))).toEqual(
      new Set([refusalOf[service] ?? "UnknownOperationException"]),
    );
    const [, served = ""] =
      /^The local .+ does not serve .+\. It serves (.+)\.$/.exec(refusals[0]?.message ?? "") ?? [];
    expect(served.split(", ")).toEqual(answered.filter((name) => !indistinguishable.includes(name)));
  });
});

it("an operation that the local AWS does not have is refused in XML if the client uses AWS's Query protocol", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const init = { method: "POST", body: "Action=SendEmail&Version=2010-12-01", headers };
  const answer = await signedFetch("ses", key, `${urls.ses}/`, init);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/xml"]);
  expect(await answer.text()).toMatch(
    /<ErrorResponse><Error><Type>Sender<\/Type><Code>NotFoundException<\/Code><Message>The local SES \(v2\) does not serve POST \/\. It serves SendEmail\.</,
  );
});
