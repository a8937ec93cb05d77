import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";

const pattern = /^draft-[0-9a-hjkmnp-tv-z]{26}$/;

/** Under which what a session runs is published. */
export function draftId({ id }: Pick<Session, "id">): string {
  return id.replace(/^ses_/, "draft-").toLowerCase();
}

/** Such an id belongs to a session: no workflow of people has it. */
export function isDraftId(id: string): boolean {
  return pattern.test(id);
}

/** Takes away what was published for a session; definitions stay, for the executions that ran them. */
export async function removeDrafts(ports: ServicePorts, session: Pick<Session, "id">): Promise<void> {
  const workflowId = draftId(session);
  const latest = await ports.workflows.latest(workflowId);
  if (!latest) return;
  await ports.workflowStates.set(workflowId, { deleted: latest.version });
  await ports.machineVersions.removeMachine(latest.stateMachineArn);
}
