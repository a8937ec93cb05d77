import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { draftId } from "../workflows/draft-id.ts";
import { cancelIfOpen } from "./erase-run.ts";

/** Cancels the session's runs, which cannot continue without their state machine. */
export async function cancelRuns(ports: ServicePorts, { state }: Pick<Session, "state">): Promise<void> {
  for (const { execution } of state.runs) await cancelIfOpen(ports, execution);
}

/** Removes a session and its state machine. Can be repeated. Definitions stay, since its runs need them. */
export async function removeSession(ports: ServicePorts, session: Pick<Session, "id" | "client">): Promise<void> {
  const whole = await ports.sessions.get(session.id);
  if (whole) await cancelRuns(ports, whole);
  const published = await ports.workflows.latest(draftId(session));
  if (published) await ports.machineVersions.removeMachine(published.stateMachineArn);
  await ports.sessions.remove(session);
}

/** Removes expired sessions. Returns their ids. */
export async function removeExpiredSessions(ports: ServicePorts, until = Number.POSITIVE_INFINITY): Promise<string[]> {
  const removed: string[] = [];
  const now = new Date(ports.clock.now()).toISOString();
  for await (const session of ports.sessions.expired(now)) {
    if (ports.clock.now() >= until) break;
    await removeSession(ports, session);
    removed.push(session.id);
  }
  return removed;
}

/** Removes all sessions of a client that is being erased. */
export async function removeSessionsOf(ports: ServicePorts, client: string): Promise<void> {
  const pageSize = 50;
  for (;;) {
    const page = await ports.sessions.list({ limit: pageSize, client });
    for (const session of page) await removeSession(ports, session);
    if (page.length < pageSize) return;
  }
}
