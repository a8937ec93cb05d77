import { defined } from "@nova/workflow/defined";
import type { ServicePorts } from "../ports/index.ts";
import type { Session, SessionChange } from "../ports/sessions.ts";

/** Number of changes that conflict messages can quote. */
const keptChanges = 50;

/** Returns the session with the next revision and a record of the change. */
export function recordChange(
  { clock }: Pick<ServicePorts, "clock">,
  session: Session,
  by: string,
  told: Pick<SessionChange, "what" | "node">,
): Session {
  const revision = session.revision + 1;
  const version = told.node === undefined ? undefined : session.state.nodes[told.node]?.version;
  const change = { revision, at: new Date(clock.now()).toISOString(), by, ...told, ...defined({ version }) };
  const changes = [...session.state.changes, change].slice(-keptChanges);
  return { ...session, revision, state: { ...session.state, changes } };
}
