import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session, SessionChange, SessionState } from "../ports/sessions.ts";
import { changed } from "./history.ts";
import { settled } from "./settle.ts";

const idPattern = /^ses_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Throws `NotFound`, in the same words for one that is over, one that was never there, and one out of reach. */
export async function sessionWithin(
  ports: Pick<ServicePorts, "sessions" | "clock">,
  by: Principal,
  id: string,
): Promise<Session> {
  const session = idPattern.test(id) ? await ports.sessions.get(id) : undefined;
  if (session && reaches(by, session.client) && Date.parse(session.expiresAt) > ports.clock.now()) return session;
  throw new NotFound(
    `there is no session "${id.slice(0, 40)}" - GET /sessions lists them; they end after retention_days`,
  );
}

/** What a change makes of a session, in words for whoever comes second. */
export interface Change<T> {
  state: SessionState;
  what: string;
  node?: string;
  answer: T;
}

const maxTries = 10;

/**
 * Changes a session. Who changed it meanwhile has it done again on what they made of it, so nothing is lost: `change`
 * says itself what stands against it. The state that it was given: there is nothing to change.
 */
export async function changing<T>(
  ports: ServicePorts,
  by: Principal,
  id: string,
  change: (session: Session) => Promise<Change<T>> | Change<T>,
): Promise<{ session: Session; answer: T }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await sessionWithin(ports, by, id);
    const session = await settled(ports, read);
    const { state, what, node, answer } = await change(session);
    if (state === read.state) return { session, answer };
    const next = changed(ports, { ...session, state }, by.id, { what, ...defined({ node }) });
    if (await ports.sessions.replace(next, read.revision)) return { session: next, answer };
  }
  throw new Conflict(`session ${id} is being changed by many at once - try again in a moment`);
}

/** What a caller has read, and expects still to be so. */
export interface Expected {
  /** Of the node. */
  version?: number;
  /** Of the session. */
  revision?: number;
}

/** Throws `Conflict`, which says what was changed since. */
export function demandUnchanged(
  { id, revision, state }: Session,
  { version, ...expected }: Expected,
  node?: string,
): void {
  const now = node === undefined ? undefined : state.nodes[node]?.version;
  if (version !== undefined && now !== undefined && now !== version) {
    const since = state.changes.filter((one) => one.node === node && (one.version ?? 0) > version);
    throw new Conflict(
      `node "${node}" is at version ${now}, and you have read ${version}: ${told(since)} - read it again, and send your change with "version": ${now}`,
    );
  }
  if (expected.revision === undefined || expected.revision === revision) return;
  const since = state.changes.filter((one) => one.revision > (expected.revision as number));
  throw new Conflict(
    `session ${id} is at revision ${revision}, and you have read ${expected.revision}: ${told(since)} - read it again, and send your change with "revision": ${revision}`,
  );
}

function told(changes: readonly SessionChange[]): string {
  const last = changes.slice(-3).map(({ what, by, at }) => `${what}, by ${by} at ${at}`);
  return last.length === 0 ? "it was changed" : last.join("; ");
}
