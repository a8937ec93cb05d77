import type { Generation } from "@nova/engine";
import { demandAllClients, reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { findWorkflow } from "../workflows/find.ts";

/** A user's verdict on the pinned code of one node. */
export interface Review extends Pick<Generation, "node" | "client" | "codeHash" | "key"> {
  verdict: "approved" | "rejected";
}

/**
 * Stores a verdict. Approved code runs from now on and replaces other code for the same inputs. Rejected code no longer
 * runs, but stays on record. A repeated verdict changes nothing. Throws `NotFound`, `Forbidden`, `Conflict`.
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

/** An approval is permanent: it records who read the code, and when. */
function rejectionChanges({ status, approved, node }: Generation): Changes | null {
  if (status === "replaced") return null;
  if (approved)
    throw new Conflict(`${approved.by} has approved this code of node "${node}" - approve other code in its place`);
  return { status: "replaced" };
}
