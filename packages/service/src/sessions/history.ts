import { defined } from "@nova/workflow/defined";
import type { ServicePorts } from "../ports/index.ts";
import type { Session, SessionChange } from "../ports/sessions.ts";

/** What a second editor is told of. */
const keptChanges = 50;

/** With its next revision, and what was changed in it. */
export function changed(
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
