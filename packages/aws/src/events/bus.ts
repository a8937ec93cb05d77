import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type EventBus, parseExact, StoreUnavailable, sha256 } from "@nova/engine";
import type { Bus, BusEvent, PublishQueue } from "@nova/service";
import { type EventBridge, eventBridge } from "../clients/loaded.ts";
import { reaching } from "../clients/outage.ts";
import { delayMs } from "../clients/retries.ts";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";

/** What NOVA's own events come from. */
export const ownSource = "nova";

/** NOVA's bus in its three uses: what happened to runs, what people put, what is to be published. */
export interface NovaBus extends EventBus, Bus, PublishQueue {}

export interface BusOptions extends Partial<Pick<BusConnection, "sleep">> {
  busName: string;
  bucket: BucketConnection;
}

/** A bus of EventBridge; details that are too large for it lie in the bucket. */
export function createBus({ busName, bucket, sleep = setTimeout }: BusOptions): NovaBus {
  const connection = { busName, sleep, eventBridge: eventBridge() };
  const put: Bus["put"] = async (event) => putEvent(connection, await withinEntry(bucket, event));
  const own = (type: string, detail: object) => put({ source: ownSource, type, detail: JSON.stringify(detail) });
  return {
    put,
    whole: (event) => wholeEvent(bucket, event),
    publish: async (type, detail) => {
      await own(type, detail);
    },
    enqueue: async ({ workflow, version }) => {
      await own("workflow.publishing", { workflow, version });
    },
  };
}

/** What EventBridge may say of one entry while it took the request, and what passes. */
const passing = new Set(["InternalException", "InternalFailure", "ThrottlingException"]);

const attempts = 6;

interface BusConnection {
  busName: string;
  eventBridge: EventBridge;
  /** Pauses between attempts. */
  sleep(ms: number): Promise<unknown>;
}

/** Puts one event and answers its id. Throws `StoreUnavailable` where EventBridge does not take it in time. */
async function putEvent(
  { busName, eventBridge, sleep }: BusConnection,
  { source, type, detail }: BusEvent,
): Promise<string> {
  const { client, sdk } = await eventBridge();
  const entry = { EventBusName: busName, Source: source, DetailType: type, Detail: detail };
  for (let attempt = 1; ; attempt++) {
    const command = new sdk.PutEventsCommand({ Entries: [entry] });
    const { Entries: [result] = [] } = await reaching("EventBridge", () => client.send(command));
    if (result?.EventId !== undefined) return result.EventId;
    const { ErrorCode = "no answer", ErrorMessage = "" } = result ?? {};
    const reason = `EventBridge did not take an event "${type}" (${ErrorCode} ${ErrorMessage})`;
    if (!passing.has(ErrorCode)) throw new Error(`${reason} - correct the event`);
    if (attempt >= attempts) throw new StoreUnavailable(`${reason} - try again`);
    await sleep(delayMs(attempt));
  }
}

/** Where details lie that no entry can hold; the bucket's lifecycle ends them. */
const prefix = "events/";

/** Member of a detail that says where the whole of it is; nobody else may put one that has it. */
const mark = "nova_detail";

/** Values that rules and waits choose by stay in the event, if they are as short as what one chooses by. */
const maxValueBytes = 256;
const maxKept = 100;

/**
 * EventBridge, "PutEvents": an entry has at most 1 MB, as an asynchronous event of Lambda and a message of SQS have. Its
 * time, where it has none, does not count. EventBridge adds an envelope (id, account, time) and Lambda and SQS count it.
 */
const maxEntryBytes = 1024 * 1024 - 4096;

interface Reference {
  key: string;
  bytes: number;
}

/**
 * The event as an entry can hold it, and as it is whole where it arrives: a detail that is too large lies in S3, and short
 * members of it beside the place; so does one whose numbers Lambda's reading of JSON would change, beside itself.
 */
export async function withinEntry(bucket: BucketConnection, event: BusEvent): Promise<BusEvent> {
  if (entryBytes(event) <= maxEntryBytes && keepsDigits(event.detail)) return event;
  const key = await storeEventText(bucket, randomUUID(), event.detail);
  const reference: Reference = { key, bytes: Buffer.byteLength(event.detail) };
  const marked = JSON.stringify({ [mark]: reference }).slice(1);
  // Rules choose among events by their text: 850.0 stays what it is there.
  const beside = { ...event, detail: `${event.detail.trimEnd().slice(0, -1)},${marked}` };
  if (entryBytes(beside) <= maxEntryBytes) return beside;
  const short = JSON.stringify(shortMembers(event.detail)).slice(0, -1);
  return { ...event, detail: `${short}${short === "{" ? "" : ","}${marked}` };
}

/**
 * Puts text of an event into the bucket and answers its key. Each event has a place of its own: the same text, sent
 * again, would lie where the lifecycle has nearly ended it.
 */
export async function storeEventText(bucket: BucketConnection, id: string, text: string): Promise<string> {
  const key = `${prefix}${sha256(`${id} ${sha256(text)}`)}.json`;
  await writeJson(bucket, key, text);
  return key;
}

/** Size of an entry as EventBridge reckons it: source, type and detail in UTF-8. */
function entryBytes({ source, type, detail }: BusEvent): number {
  return Buffer.byteLength(source) + Buffer.byteLength(type) + Buffer.byteLength(detail);
}

/** Whether every number is written as JavaScript writes it. */
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
 * An event's text (EventBridge's envelope) with the whole detail, whoever has put it; undefined where that is not in its
 * place, which is so only of what is not NOVA's own or is too old. Only what lies under the prefix is fetched: a place in
 * an event is not to be trusted.
 */
export async function wholeEvent(bucket: BucketConnection, text: string): Promise<string | undefined> {
  if (!text.includes(`"${mark}"`)) return text;
  const event = JSON.parse(text) as { detail?: Record<string, unknown> };
  const reference = event.detail?.[mark];
  if (!isReference(reference)) return text;
  const detail = await readText(bucket, reference.key);
  if (detail === undefined) return undefined;
  const { detail: _, ...envelope } = event;
  return `${JSON.stringify(envelope).slice(0, -1)},"detail":${detail}}`;
}

function isReference(value: unknown): value is Reference {
  const key = (value as Reference | null)?.key;
  return typeof key === "string" && new RegExp(`^${prefix}[0-9a-f]{64}\\.json$`).test(key);
}
