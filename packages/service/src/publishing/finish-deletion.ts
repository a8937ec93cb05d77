import { removeCredentialsOf } from "../credentials/credentials.ts";
import type { ServicePorts } from "../ports/index.ts";
import { endPauses } from "../workflows/pauses.ts";
import { showUnlessDeleted } from "../workflows/show.ts";
import { settleTriggers } from "./settle-triggers.ts";

/**
 * Takes away what a deleted workflow still has, and writes down that it was deleted: by whoever deletes it, and by who
 * deletes it again, or publishes another one under its id, where that died. False: nothing was left.
 */
export async function finishDeletion(ports: ServicePorts, id: string): Promise<boolean> {
  const { leaving } = (await ports.workflowStates.get(id)) ?? {};
  if (!leaving) return false;
  await settleTriggers(ports, id);
  await endPauses(ports, id);
  // Credentials of what was published meanwhile may be its own.
  if (!(await showUnlessDeleted(ports, id))) await removeCredentialsOf(ports, { workflow: id });
  await ports.audit.append(leaving);
  await ports.workflowStates.hasLeft(id, leaving);
  return true;
}
