import { createHash } from "node:crypto";
import { StoreUnavailable } from "@nova/engine";
import type { BusEvent } from "@nova/service";
import type { BucketConnection } from "../s3/connection.ts";
import { readObject } from "../s3/read-object.ts";
import { writeOnce } from "../s3/write-once.ts";
import { entryBytes, mostEntryBytes } from "./entry.ts";

/** Where details lie that no entry can hold; the bucket's lifecycle ends them. */
const prefix = "events/";

/** Member of a detail that says where the whole of it is. */
const mark = "nova_detail";

/** Values that rules and waits choose by stay in the event, if they are as short as what one chooses by. */
const mostValueBytes = 256;
const mostKept = 100;

interface Reference {
  key: string;
  bytes: number;
}

/** The event as an entry can hold it: a detail that is too large lies in S3, and short members of it beside the place. */
export async function withinEntry(bucket: BucketConnection, event: BusEvent): Promise<BusEvent> {
  if (entryBytes(event) <= mostEntryBytes) return event;
  const body = Buffer.from(event.detail);
  const sha256 = createHash("sha256").update(body).digest("hex");
  const [key, bytes] = [`${prefix}${sha256}.json`, body.length];
  await writeOnce(bucket, { key, bytes, sha256, contentType: "application/json", body });
  const reference: Reference = { key, bytes };
  return { ...event, detail: JSON.stringify({ ...shortMembers(event.detail), [mark]: reference }) };
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
 * An event's text (EventBridge's envelope) with the whole detail, whoever has put it. Only what lies under the prefix
 * is fetched: a place in an event is not to be trusted.
 */
export async function wholeEvent(bucket: BucketConnection, text: string): Promise<string> {
  if (!text.includes(`"${mark}"`)) return text;
  const event = JSON.parse(text) as { detail?: Record<string, unknown> };
  const reference = event.detail?.[mark];
  if (!isReference(reference)) return text;
  const detail = await readWhole(bucket, reference);
  const { detail: _, ...envelope } = event;
  return `${JSON.stringify(envelope).slice(0, -1)},"detail":${detail}}`;
}

function isReference(value: unknown): value is Reference {
  const key = (value as Reference | null)?.key;
  return typeof key === "string" && new RegExp(`^${prefix}[0-9a-f]{64}\\.json$`).test(key);
}

async function readWhole(bucket: BucketConnection, { key }: Reference): Promise<string> {
  const object = await readObject(bucket, key);
  if (!object) throw new StoreUnavailable(`the detail of an event, ${key}, is not there - put the event again`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of object.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
