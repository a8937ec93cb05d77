import type { Generation } from "@nova/engine";
import { demandAllClients, reaches } from "../access/authenticate.ts";
import { buildDeed, recordDeed } from "../audit/audit.ts";
import { removeCredentialsOf } from "../credentials/credentials.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { demandMachine, endPauses, findWorkflow, noVersion, noWorkflow, showUnlessDeleted } from "../workflows/find.ts";
import { moveActive, settleTriggers } from "./move-active.ts";

/**
 * Finishes a deletion: removes the triggers, pauses and credentials of a deleted workflow, and records the deletion.
 * The deletion itself calls this function. After a crash, the next deletion or publication of that id calls it. Returns
 * false if no deletion is in progress.
 */
export async function finishDeletion(ports: ServicePorts, id: string): Promise<boolean> {
  const { leaving } = (await ports.workflowStates.get(id)) ?? {};
  if (!leaving) return false;
  await settleTriggers(ports, id);
  await endPauses(ports, id);
  // Keeps the credentials if a version was published during the deletion, because that version uses them.
  if (!(await showUnlessDeleted(ports, id))) await removeCredentialsOf(ports, { workflow: id });
  await ports.audit.append(leaving);
  await ports.workflowStates.endDeletion(id, leaving);
  return true;
}

/**
 * Activates a version for new runs; open runs continue with their own version. Throws `NotFound`, and `Forbidden` if
 * the caller's key is for one client.
 */
export async function activateVersion(ports: ServicePorts, by: Principal, id: string, version: number): Promise<void> {
  demandAllClients(by);
  const found = await findWorkflow(ports, id, version);
  await demandMachine(ports, found.version);
  let isMoved = true;
  await moveActive(ports, id, found.version, ({ deleted = 0, active }) => {
    if (deleted >= version) throw noVersion(id, version);
    isMoved = active !== version;
    return { active: version };
  });
  if (isMoved)
    await recordDeed(ports, by, { action: "workflow.activated", client: null, subject: id, detail: { version } });
}

/**
 * Deletes a workflow. After a crash, a repeated call completes the deletion. Throws `NotFound`, `Forbidden` if the
 * caller's key is for one client, and `Conflict` while runs are open or a version is being published.
 */
export async function deleteWorkflow(ports: ServicePorts, by: Principal, id: string): Promise<void> {
  demandAllClients(by);
  const shown = await showUnlessDeleted(ports, id);
  if (!shown && (await finishDeletion(ports, id))) return;
  if (!shown) throw noWorkflow(id);
  const { version, latest } = shown;
  if ("status" in version && version.status === "publishing") {
    throw new Conflict(`version ${version.version} of "${id}" is being published - try again in a moment`);
  }
  const { items } = await ports.executions.list({
    workflow: id,
    statuses: ["running", "waiting", "queued"],
    limit: 1,
  });
  if (items[0]) {
    throw new Conflict(`execution ${items[0].id} of "${id}" is ${items[0].status} - cancel it, or wait for its end`);
  }
  const deed = { action: "workflow.deleted", client: null, subject: id, detail: { version: latest } } as const;
  const leaving = buildDeed(ports, by, deed);
  await moveActive(ports, id, undefined, ({ active = 0, deleted = 0 }) => {
    if (deleted >= latest) return undefined;
    if (active <= latest) return { deleted: latest, leaving };
    throw new Conflict(`version ${active} of "${id}" was published meanwhile - delete it again`);
  });
  await finishDeletion(ports, id);
}

/** A user's verdict on the pinned code of one node. */
export interface Review extends Pick<Generation, "node" | "client" | "codeHash" | "key"> {
  verdict: "approved" | "rejected";
}

/**
 * Stores a verdict. From now on, approved code runs in place of other code for the same inputs. Rejected code no longer
 * runs, but is kept. A repeated verdict changes nothing. Throws `NotFound`, `Conflict` if a verdict rejects approved
 * code, and `Forbidden` if the caller's key is for one client and the code is for all clients.
 */
export async function reviewCode(
  ports: ServicePorts,
  by: Principal,
  workflowId: string,
  { verdict, ...wanted }: Review,
): Promise<Generation> {
  const { node, client, codeHash } = wanted;
  if (client === null) demandAllClients(by);
  await findWorkflow(ports, workflowId);
  const kept = reaches(by, client) ? await ports.generations.of(workflowId, node, client) : [];
  const found = kept.find((one) => one.codeHash === codeHash && one.key === wanted.key);
  if (!found)
    throw new NotFound(`workflow "${workflowId}" keeps no such code for node "${node}" - list its generations`);
  const changes = verdict === "approved" ? approvalChanges(ports, by, found) : rejectionChanges(found);
  if (!changes) return found;
  const others = kept.filter((one) => one !== found && one.key === found.key && one.status === "pinned");
  await ports.generations.update(found, changes);
  if (verdict === "approved") for (const one of others) await ports.generations.update(one, { status: "replaced" });
  const detail = { node, code_hash: codeHash };
  await recordDeed(ports, by, { action: `code.${verdict}`, client, subject: workflowId, detail });
  return { ...found, ...changes };
}

type Changes = Parameters<ServicePorts["generations"]["update"]>[1];

function approvalChanges({ clock }: Pick<ServicePorts, "clock">, by: Principal, found: Generation): Changes | null {
  if (found.approved && found.status === "pinned") return null;
  const approved = found.approved ?? { by: by.name || by.id, at: new Date(clock.now()).toISOString() };
  return { approved, status: "pinned" };
}

/**
 * Returns the fields of stored code that its rejection changes; null if the code was already rejected. Approved code
 * cannot be rejected, since an approval permanently records who read the code, and when.
 */
function rejectionChanges({ status, approved, node }: Generation): Changes | null {
  if (status === "replaced") return null;
  if (approved)
    throw new Conflict(`${approved.by} has approved this code of node "${node}" - approve other code in its place`);
  return { status: "replaced" };
}
