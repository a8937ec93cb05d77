import { hash } from "node:crypto";
import { monotonicFactory } from "ulid";
import { Conflict, Refused } from "../errors.ts";
import type { Attempt, ServicePorts } from "../ports/index.ts";

/** Seconds during which a repeated request gets the result of the first request. */
const keptSeconds = 24 * 60 * 60;
/** Maximum run time of the API's Lambda. */
const apiLivesMs = 30_000;
/** Tolerance for differing clocks, and for the time that Lambda needs to stop a function. */
const marginMs = 5_000;

const nextId = monotonicFactory();

export interface OnceRequest {
  principal: string;
  client: string | null;
  key: string;
  asked: string;
  /**
   * Maximum run time of the caller. After that time, the attempt counts as abandoned, and another request takes it
   * over. Absent: the maximum run time of the API's Lambda.
   */
  livesMs?: number;
}

/**
 * Runs `make` once per `Idempotency-Key`. A repeated request gets the first result, passed through `again`. `make` gets
 * a ULID that is stored before `make` runs. So a process that takes over an abandoned attempt makes a result with the
 * same id. Throws `Conflict` while the first request is in progress, and `Refused` if the key was used for another
 * request.
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
  const clientField = request.client === null ? {} : { client: request.client };
  const attempt: Attempt = { format: 1, ...name, ...clientField, fingerprint, id: ulid, since, expiresAt };
  const existing = await ports.attempts.begin(attempt, now);
  if (existing && existing.fingerprint !== fingerprint) {
    throw new Refused("this Idempotency-Key came with another request before - use a new one for a new request");
  }
  if (existing?.made !== undefined) return again(JSON.parse(existing.made) as T);
  const isDead = existing && now - Date.parse(existing.since) >= (request.livesMs ?? apiLivesMs) + marginMs;
  if (existing && !(isDead && (await ports.attempts.takeOver(existing, existing.since, since)))) {
    throw new Conflict("the first request with this Idempotency-Key is under way - repeat it in a moment");
  }
  let made: T;
  try {
    made = await make(existing?.id ?? ulid);
  } catch (error) {
    await ports.attempts.release(name);
    throw error;
  }
  await ports.attempts.finish(name, JSON.stringify(made ?? null));
  return made;
}
