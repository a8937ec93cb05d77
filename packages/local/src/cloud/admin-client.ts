import { get, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Counters } from "./counting.ts";
import { OwnerGone } from "./errors.ts";
import type { Owner } from "./owner-file.ts";
import type { Listener, NodeEvent } from "./progress.ts";

/**
 * The connection of this process, as a guest, to the owner. The `counters` and `untilEnd` of the connection throw
 * `OwnerGone` if the owner has died.
 */
export type OwnerConnection = NonNullable<Awaited<ReturnType<typeof joinOwner>>>;

/** Becomes a guest of the owner that `owner.json` names. Returns null if that owner does not answer or is closing. */
export async function joinOwner(owner: Owner, adminKey: string, drives: boolean) {
  const { admin } = owner.endpoints;
  const health = await sendGet(`${admin}/health`, adminKey);
  if (health?.statusCode !== 200 || (await bodyOf<{ instance: string }>(health))?.instance !== owner.instance)
    return null;
  const stay = await sendGet(`${admin}/guest${drives ? "/driving" : ""}`, adminKey);
  if (stay?.statusCode !== 200) {
    stay?.destroy();
    return null;
  }
  /** Resolves when the connection breaks, which means that the owner has died. */
  const ownerLost = new Promise<void>((resolve) => stay.on("error", () => resolve()).once("close", resolve));
  /** Resolves when the owner asks its guests to leave, or when it dies. */
  const ownerEnding = new Promise<void>((resolve) => {
    stay.on("data", (chunk: Buffer) => chunk.toString().includes("closing") && resolve());
    ownerLost.then(resolve);
  });
  return {
    ownerLost,
    ownerEnding,
    counters: (execution: string) => readCounters(admin, adminKey, execution),
    untilEnd: (execution: string, listener?: Listener) => readProgress(admin, adminKey, execution, listener),
    leave: () => void stay.destroy(),
  };
}

async function readCounters(admin: string, adminKey: string, execution: string): Promise<Counters> {
  const response = await sendGet(`${admin}/counters/${execution}`, adminKey);
  const counters = response?.statusCode === 200 && (await bodyOf<Counters>(response));
  if (counters) return counters;
  throw new OwnerGone();
}

async function readProgress(admin: string, adminKey: string, execution: string, listener: Listener = () => {}) {
  const response = await sendGet(`${admin}/progress/${execution}`, adminKey);
  if (response?.statusCode !== 200) throw new OwnerGone();
  for await (const event of eventsIn(response)) {
    if ("ended" in event) return;
    listener(event);
  }
  throw new OwnerGone();
}

/**
 * Yields the events of a progress stream. Only the event `ended` proves that the execution has ended, because a broken
 * connection ends the stream, too.
 */
async function* eventsIn(response: IncomingMessage): AsyncGenerator<NodeEvent | { ended: true }> {
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } catch (error) {
    if (response.complete) throw error;
  }
}

/** Sends a GET request. Returns null if no process listens at the URL. */
function sendGet(url: string, adminKey: string): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, headers: { authorization: `Bearer ${adminKey}` } }, resolve);
    request.once("error", () => resolve(null));
  });
}

/** Reads a JSON body. Returns null if the connection broke, or if the body is not JSON. */
async function bodyOf<T>(response: IncomingMessage): Promise<T | null> {
  try {
    return JSON.parse(Buffer.concat(await Array.fromAsync(response)).toString()) as T;
  } catch {
    return null;
  }
}
