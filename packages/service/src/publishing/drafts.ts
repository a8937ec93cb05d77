import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { draftId } from "../workflows/draft-id.ts";

/** Takes away what was published for a session; definitions stay, for the executions that ran them. */
export async function removeDrafts(ports: ServicePorts, session: Pick<Session, "id">): Promise<void> {
  const workflowId = draftId(session);
  const latest = await ports.workflows.latest(workflowId);
  if (!latest) return;
  await ports.machineVersions.removeMachine(latest.stateMachineArn);
}
