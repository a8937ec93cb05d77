import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { draftId } from "../workflows/draft-id.ts";
import { endRun } from "./erase-run.ts";

/** Without its state machine none of them could go on. */
export async function cancelRuns(ports: ServicePorts, { state }: Pick<Session, "state">): Promise<void> {
  for (const { execution } of state.runs) await endRun(ports, execution);
}

/** Takes away a session that is over, with what was published for it. Twice does no harm. Definitions stay, for its runs. */
export async function removeSession(ports: ServicePorts, session: Pick<Session, "id" | "client">): Promise<void> {
  const whole = await ports.sessions.get(session.id);
  if (whole) await cancelRuns(ports, whole);
  const published = await ports.workflows.latest(draftId(session));
  if (published) await ports.machineVersions.removeMachine(published.stateMachineArn);
  await ports.sessions.remove(session);
}

/** Removes those that are over. Answers their ids. */
export async function removeExpired(ports: ServicePorts, until = Number.POSITIVE_INFINITY): Promise<string[]> {
  const removed: string[] = [];
  const now = new Date(ports.clock.now()).toISOString();
  for await (const session of ports.sessions.expired(now)) {
    if (ports.clock.now() >= until) break;
    await removeSession(ports, session);
    removed.push(session.id);
  }
  return removed;
}

/** Of a client that is being erased, before what names it goes. */
export async function removeSessionsOf(ports: ServicePorts, client: string): Promise<void> {
  const pageSize = 50;
  for (;;) {
    const page = await ports.sessions.list({ limit: pageSize, client });
    for (const session of page) await removeSession(ports, session);
    if (page.length < pageSize) return;
  }
}
