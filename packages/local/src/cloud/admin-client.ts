import { get, type IncomingMessage } from "node:http";
import type { Counters } from "./counters.ts";
import type { Owner } from "./owner-file.ts";

/** This process among the guests of an owner. */
export interface Visit {
  /** Aborted when the connection is lost: the owner died. */
  ownerLost: AbortSignal;
  counters(execution: string): Promise<Counters>;
  leave(): void;
}

/**
 * Becomes a guest of the owner that the file names. Null where nobody answers there, where it is somebody else, and
 * where the owner is closing.
 */
export async function visit(owner: Owner, adminKey: string): Promise<Visit | null> {
  const { admin } = owner.endpoints;
  const health = await open(`${admin}/health`, adminKey);
  if (health?.statusCode !== 200 || instanceIn(await textOf(health)) !== owner.instance) return null;
  const stay = await open(`${admin}/guest`, adminKey);
  if (stay?.statusCode !== 200) {
    stay?.destroy();
    return null;
  }
  const lost = new AbortController();
  stay.once("close", () => lost.abort());
  // The welcome is never read to its end; `resume` lets the close be seen.
  stay.resume().on("error", () => lost.abort());
  return { ownerLost: lost.signal, counters: (id) => readCounters(admin, adminKey, id), leave: () => stay.destroy() };
}

async function readCounters(admin: string, adminKey: string, execution: string): Promise<Counters> {
  const response = await open(`${admin}/counters/${execution}`, adminKey);
  if (response?.statusCode !== 200) throw new OwnerGone("the process that owned the data folder has ended");
  return JSON.parse(await textOf(response));
}

export class OwnerGone extends Error {
  override name = "OwnerGone";
}

/** Null where nobody listens. */
function open(url: string, adminKey: string): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, headers: { authorization: `Bearer ${adminKey}` } }, resolve);
    request.once("error", () => resolve(null));
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function instanceIn(text: string): unknown {
  try {
    return JSON.parse(text).instance;
  } catch {
    return undefined;
  }
}
