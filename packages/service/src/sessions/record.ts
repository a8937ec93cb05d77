import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session, SessionChange, SessionState } from "../ports/sessions.ts";
import { recordChange, settleSession } from "./settle.ts";

const idPattern = /^ses_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Finds a session. Throws the same `NotFound` for an expired session, an unknown one, and one out of the caller's reach. */
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

/** The result of a change, described for other editors. */
export interface Change<T> {
  state: SessionState;
  what: string;
  node?: string;
  answer: T;
}

const maxTries = 10;

/**
 * Changes a session. If the session changed meanwhile, `change` runs again on the new state, so no change is lost. If
 * `change` returns the state that it was given, nothing is stored.
 */
export async function changeSession<T>(
  ports: ServicePorts,
  by: Principal,
  id: string,
  change: (session: Session) => Promise<Change<T>> | Change<T>,
): Promise<{ session: Session; answer: T }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await sessionWithin(ports, by, id);
    const session = await settleSession(ports, read);
    const { state, what, node, answer } = await change(session);
    if (state === read.state) return { session, answer };
    const next = recordChange(ports, { ...session, state }, by.id, { what, ...defined({ node }) });
    if (await ports.sessions.replace(next, read.revision)) return { session: next, answer };
  }
  throw new Conflict(`session ${id} is being changed by many at once - try again in a moment`);
}

/** The versions that a caller has read and expects to be unchanged. */
export interface ExpectedVersions {
  /** Version of the node. */
  version?: number;
  /** Revision of the session. */
  revision?: number;
}

/** Throws `Conflict`, which describes the changes since. */
export function demandUnchanged(
  { id, revision, state }: Session,
  { version, ...expected }: ExpectedVersions,
  node?: string,
): void {
  const now = node === undefined ? undefined : state.nodes[node]?.version;
  if (version !== undefined && now !== undefined && now !== version) {
    const since = state.changes.filter((one) => one.node === node && (one.version ?? 0) > version);
    throw new Conflict(
      `node "${node}" is at version ${now}, and you have read ${version}: ${describeChanges(since)} - read it again, and send your change with "version": ${now}`,
    );
  }
  if (expected.revision === undefined || expected.revision === revision) return;
  const since = state.changes.filter((one) => one.revision > (expected.revision as number));
  throw new Conflict(
    `session ${id} is at revision ${revision}, and you have read ${expected.revision}: ${describeChanges(since)} - read it again, and send your change with "revision": ${revision}`,
  );
}

function describeChanges(changes: readonly SessionChange[]): string {
  const last = changes.slice(-3).map(({ what, by, at }) => `${what}, by ${by} at ${at}`);
  return last.length === 0 ? "it was changed" : last.join("; ");
}
