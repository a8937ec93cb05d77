import { createHash, randomUUID } from "node:crypto";
import { parseExact } from "@nova/engine";
import type { BusEvent } from "@nova/service";
import type { BucketConnection } from "../s3/connection.ts";
import { readObject } from "../s3/read-object.ts";
import { writeOnce } from "../s3/write-once.ts";
import { entryBytes, mostEntryBytes } from "./entry.ts";

/** Where details lie that no entry can hold; the bucket's lifecycle ends them. */
const prefix = "events/";

/** Member of a detail that says where the whole of it is; nobody else may put one that has it. */
const mark = "nova_detail";

/** Values that rules and waits choose by stay in the event, if they are as short as what one chooses by. */
const mostValueBytes = 256;
const mostKept = 100;

interface Reference {
  key: string;
  bytes: number;
}

/**
 * The event as an entry can hold it, and as it is whole where it arrives: a detail that is too large lies in S3, and short
 * members of it beside the place; so does one whose numbers Lambda's reading of JSON would change, beside itself.
 */
export async function withinEntry(bucket: BucketConnection, event: BusEvent): Promise<BusEvent> {
  if (entryBytes(event) <= mostEntryBytes && keepsDigits(event.detail)) return event;
  const body = Buffer.from(event.detail);
  const sha256 = createHash("sha256").update(body).digest("hex");
  // Its own place for each event: the same detail, sent again, would lie where the lifecycle has nearly ended it.
  const place = createHash("sha256").update(`${randomUUID()} ${sha256}`).digest("hex");
  const [key, bytes] = [`${prefix}${place}.json`, body.length];
  await writeOnce(bucket, { key, bytes, sha256, contentType: "application/json", body });
  const marked = JSON.stringify({ [mark]: { key, bytes } satisfies Reference }).slice(1);
  // Rules choose among events by their text: 850.0 stays what it is there.
  const beside = { ...event, detail: `${event.detail.trimEnd().slice(0, -1)},${marked}` };
  if (entryBytes(beside) <= mostEntryBytes) return beside;
  const short = JSON.stringify(shortMembers(event.detail)).slice(0, -1);
  return { ...event, detail: `${short}${short === "{" ? "" : ","}${marked}` };
}

/** Whether every number is written as JavaScript writes it. */
function keepsDigits(detail: string): boolean {
  return JSON.stringify(JSON.parse(detail)) === JSON.stringify(parseExact(detail));
}

function shortMembers(detail: string): Record<string, unknown> {
  const members = Object.entries(JSON.parse(detail) as Record<string, unknown>);
  return Object.fromEntries(members.filter(([, value]) => isShort(value)).slice(0, mostKept));
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return Buffer.byteLength(value) <= mostValueBytes;
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
  const detail = await readWhole(bucket, reference);
  if (detail === undefined) return undefined;
  const { detail: _, ...envelope } = event;
  return `${JSON.stringify(envelope).slice(0, -1)},"detail":${detail}}`;
}

function isReference(value: unknown): value is Reference {
  const key = (value as Reference | null)?.key;
  return typeof key === "string" && new RegExp(`^${prefix}[0-9a-f]{64}\\.json$`).test(key);
}

async function readWhole(bucket: BucketConnection, { key }: Reference): Promise<string | undefined> {
  const object = await readObject(bucket, key);
  if (!object) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of object.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
