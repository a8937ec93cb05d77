import { hash } from "node:crypto";
import { ulid } from "ulid";
import type { Attempt, Principal } from "../ports/access.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { createSession, usualRetentionDays } from "./sessions.ts";

const daySeconds = 24 * 60 * 60;

/**
 * Id of the session that a key calls by this name, or of its default session. Makes the session where the key has none by
 * this name, or where it was deleted or is over. Two requests at the same time get the same one.
 */
export async function namedSession(ports: ServicePorts, by: Principal, name: string | undefined): Promise<string> {
  const now = ports.clock.now();
  const wanted: Attempt = {
    format: 1,
    principal: by.id,
    client: by.client ?? defaultClient,
    id: ulid(now),
    // No Idempotency-Key holds a NUL, so none is ever the same.
    key: hash("sha256", `session\0${name ?? ""}`),
    fingerprint: "session",
    since: new Date(now).toISOString(),
    expiresAt: Math.floor(now / 1000) + usualRetentionDays * daySeconds,
  };
  const known = await ports.attempts.begin(wanted, now);
  if (known?.made !== undefined) {
    const id = `ses_${known.id}`;
    const session = await ports.sessions.get(id);
    if (session && Date.parse(session.expiresAt) > now) return id;
  }
  // The one that is over counts as expired; one that another request has made since does not.
  const isOver = known?.made !== undefined;
  const current = isOver ? await ports.attempts.begin(wanted, (known.expiresAt + 1) * 1000) : known;
  const { id } = await createSession(ports, by, {
    ulid: (current ?? wanted).id,
    name: name ?? "Default session",
    retentionDays: usualRetentionDays,
  });
  await ports.attempts.finish(wanted, JSON.stringify(id));
  return id;
}
