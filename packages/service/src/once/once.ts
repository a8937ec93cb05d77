import { hash } from "node:crypto";
import { monotonicFactory } from "ulid";
import { Conflict, Refused } from "../errors.ts";
import type { Attempt } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";

/** How long a repeated request is answered from what the first one made. */
const keptSeconds = 24 * 60 * 60;
/** A Lambda of the API lives for 30 seconds. */
const apiLivesMs = 30_000;
/** Clocks differ, and a Lambda is not stopped to the millisecond. */
const marginMs = 5_000;

const nextId = monotonicFactory();

export interface OnceRequest {
  /** Id of the API key. */
  principal: string;
  /** Whose the key is; null for all clients. */
  client: string | null;
  /** The `Idempotency-Key`. */
  key: string;
  /** All that was asked, as text. */
  asked: string;
  /** How long whoever does it may live; whoever began before that is dead, and another one takes over. Absent: the API. */
  livesMs?: number;
}

/**
 * Does a piece of work once per `Idempotency-Key`, and answers a repeated request what the first one made. The id for
 * what is to be made is reserved before, so that whoever takes over from a process that died makes the same thing.
 * With `again` a repeated request gets what that makes of it. Throws `Conflict` while the first is under way, `Refused`
 * where the key was used for something else.
 */
export async function once<T>(
  ports: Pick<ServicePorts, "attempts" | "clock">,
  request: OnceRequest | undefined,
  make: (ulid: string) => Promise<T>,
  again: (made: T) => Promise<T> = async (made) => made,
): Promise<T> {
  const now = ports.clock.now();
  const ulid = nextId(now);
  if (!request) return make(ulid);
  const name = { principal: request.principal, key: hash("sha256", request.key) };
  const fingerprint = hash("sha256", request.asked);
  const since = new Date(now).toISOString();
  const expiresAt = Math.floor(now / 1000) + keptSeconds;
  const whose = request.client === null ? {} : { client: request.client };
  const mine: Attempt = { format: 1, ...name, ...whose, fingerprint, id: ulid, since, expiresAt };
  const there = await ports.attempts.begin(mine, now);
  if (there && there.fingerprint !== fingerprint) {
    throw new Refused("this Idempotency-Key came with another request before - use a new one for a new request");
  }
  if (there?.made !== undefined) return again(JSON.parse(there.made) as T);
  const isDead = there && now - Date.parse(there.since) >= (request.livesMs ?? apiLivesMs) + marginMs;
  if (there && !(isDead && (await ports.attempts.takeOver(there, there.since, since)))) {
    throw new Conflict("the first request with this Idempotency-Key is under way - repeat it in a moment");
  }
  let made: T;
  try {
    made = await make(there?.id ?? ulid);
  } catch (error) {
    await ports.attempts.release(name);
    throw error;
  }
  await ports.attempts.finish(name, JSON.stringify(made ?? null));
  return made;
}
