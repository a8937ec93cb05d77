import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type EventBus, parseExact, StoreUnavailable, sha256 } from "@nova/engine";
import type { Bus, BusEvent, PublishQueue } from "@nova/service";
import { type EventBridge, eventBridge } from "../clients/loaded.ts";
import { delayMs, reportOutage } from "../clients/outage.ts";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";

/** Source name of NOVA's own events. */
export const ownSource = "nova";

/** NOVA's bus for events about runs, events that users send, and the publishing queue. */
export interface NovaBus extends EventBus, Bus, PublishQueue {}

export interface BusOptions extends Partial<Pick<BusConnection, "sleep">> {
  busName: string;
  bucket: BucketConnection;
}

/**
 * Creates a bus on EventBridge. If the detail of an event is too large for an entry of EventBridge, the bus stores it
 * in the bucket.
 */
export function createBus({ busName, bucket, sleep = setTimeout }: BusOptions): NovaBus {
  const connection = { busName, sleep, eventBridge: eventBridge() };
  const put: Bus["put"] = async (event) => putEvent(connection, await fitIntoEntry(bucket, event));
  const own = (type: string, detail: object) => put({ source: ownSource, type, detail: JSON.stringify(detail) });
  return {
    put,
    whole: (event) => readWholeEvent(bucket, event),
    publish: async (type, detail) => {
      await own(type, detail);
    },
    enqueue: async ({ workflow, version }) => {
      await own("workflow.publishing", { workflow, version });
    },
  };
}

/** Error codes of an entry in a request that succeeded as a whole. A retry of the entry can succeed. */
const transientErrors = new Set(["InternalException", "InternalFailure", "ThrottlingException"]);

const attempts = 6;

interface BusConnection {
  busName: string;
  eventBridge: EventBridge;
  sleep(ms: number): Promise<unknown>;
}

/** Sends one event and returns its id. Throws `StoreUnavailable` after `attempts` failures. */
async function putEvent({ busName, eventBridge, sleep }: BusConnection, { source, type, detail }: BusEvent) {
  const { client, sdk } = await eventBridge();
  const entry = { EventBusName: busName, Source: source, DetailType: type, Detail: detail };
  for (let attempt = 1; ; attempt++) {
    const command = new sdk.PutEventsCommand({ Entries: [entry] });
    const { Entries: [result] = [] } = await reportOutage("EventBridge", () => client.send(command));
    if (result?.EventId !== undefined) return result.EventId;
    const { ErrorCode = "no answer", ErrorMessage = "" } = result ?? {};
    const reason = `EventBridge did not take an event "${type}" (${ErrorCode} ${ErrorMessage})`;
    if (!transientErrors.has(ErrorCode)) throw new Error(`${reason} - correct the event`);
    if (attempt >= attempts) throw new StoreUnavailable(`${reason} - try again`);
    await sleep(delayMs(attempt));
  }
}

/** Prefix of stored details in the bucket. The bucket's lifecycle deletes them. */
const eventPrefix = "events/";

/**
 * The member of a detail that refers to the stored detail. The API refuses events of users that contain this member.
 */
const referenceMember = "nova_detail";

/** Members with short values stay in the event, so that rules and waits can match them. */
const maxValueBytes = 256;
const maxKept = 100;

/**
 * EventBridge, Lambda (asynchronous events) and SQS all limit an event to 1 MB. The margin is for the envelope that
 * EventBridge adds (id, account, time), which Lambda and SQS count.
 */
const maxEntryBytes = 1024 * 1024 - 4096;

interface Reference {
  key: string;
  bytes: number;
}

/**
 * Makes an event small enough for an entry of EventBridge. A detail that is too large is stored in S3; the entry then
 * holds its short members and a reference. A detail with numbers that JavaScript cannot represent is stored, too,
 * because Lambda would change these numbers. Its entry keeps the whole detail and adds the reference.
 */
export async function fitIntoEntry(bucket: BucketConnection, event: BusEvent): Promise<BusEvent> {
  if (entryBytes(event) <= maxEntryBytes && keepsDigits(event.detail)) return event;
  const key = await storeEventText(bucket, randomUUID(), event.detail);
  const reference: Reference = { key, bytes: Buffer.byteLength(event.detail) };
  const marked = JSON.stringify({ [referenceMember]: reference }).slice(1);
  // Adds the reference to the text of the detail and does not parse it, because EventBridge rules match the number
  // 850.0 by its text.
  const beside = { ...event, detail: `${event.detail.trimEnd().slice(0, -1)},${marked}` };
  if (entryBytes(beside) <= maxEntryBytes) return beside;
  const short = JSON.stringify(shortMembers(event.detail)).slice(0, -1);
  return { ...event, detail: `${short}${short === "{" ? "" : ","}${marked}` };
}

/**
 * Stores the text of an event and returns its key. The key contains a hash of the event's id, so that every event has
 * an object of its own. If two events with the same text shared an object, the object could expire before the later
 * event is delivered.
 */
export async function storeEventText(bucket: BucketConnection, id: string, text: string): Promise<string> {
  const key = `${eventPrefix}${sha256(`${id} ${sha256(text)}`)}.json`;
  await writeJson(bucket, key, text);
  return key;
}

/** Returns the size of an event in bytes, as EventBridge counts it. */
function entryBytes({ source, type, detail }: BusEvent): number {
  return Buffer.byteLength(source) + Buffer.byteLength(type) + Buffer.byteLength(detail);
}

/** Returns whether JavaScript would write every number of a detail with the same digits. */
function keepsDigits(detail: string): boolean {
  return JSON.stringify(JSON.parse(detail)) === JSON.stringify(parseExact(detail));
}

function shortMembers(detail: string): Record<string, unknown> {
  const members = Object.entries(JSON.parse(detail) as Record<string, unknown>);
  return Object.fromEntries(members.filter(([, value]) => isShort(value)).slice(0, maxKept));
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return Buffer.byteLength(value) <= maxValueBytes;
  return value === null || typeof value === "number" || typeof value === "boolean";
}

/**
 * Returns an event's text (EventBridge's envelope) with its whole detail; undefined if the stored detail is missing,
 * for example for an old event or a forged reference. The function does not trust a reference, so it reads only keys
 * under the prefix.
 */
export async function readWholeEvent(bucket: BucketConnection, text: string): Promise<string | undefined> {
  if (!text.includes(`"${referenceMember}"`)) return text;
  const event = JSON.parse(text) as { detail?: Record<string, unknown> };
  const reference = event.detail?.[referenceMember];
  if (!isReference(reference)) return text;
  const detail = await readText(bucket, reference.key);
  if (detail === undefined) return undefined;
  const { detail: _, ...envelope } = event;
  return `${JSON.stringify(envelope).slice(0, -1)},"detail":${detail}}`;
}

function isReference(value: unknown): value is Reference {
  const key = (value as Reference | null)?.key;
  return typeof key === "string" && new RegExp(`^${eventPrefix}[0-9a-f]{64}\\.json$`).test(key);
}
