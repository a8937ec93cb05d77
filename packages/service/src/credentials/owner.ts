import type { CredentialOwner } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { demandClient } from "../clients/clients.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { findWorkflow } from "../workflows/find.ts";

export type CredentialPorts = Pick<
  ServicePorts,
  | "credentialStore"
  | "credentialCipher"
  | "credentials"
  | "clients"
  | "workflows"
  | "workflowStates"
  | "publications"
  | "audit"
  | "clock"
>;

/**
 * Who asks reaches whose credentials they are: a client within reach, or a workflow, whose credentials all clients
 * share; `by` null is whoever set NOVA up. Throws `NotFound`, `Forbidden`.
 */
export async function demandOwner(ports: CredentialPorts, by: Principal | null, owner: CredentialOwner): Promise<void> {
  if ("client" in owner) {
    await demandClient(ports, by, owner.client);
    return;
  }
  if (by) demandAllClients(by);
  await findWorkflow(ports, owner.workflow);
}

/** The client that a deed is about; null: all of them. */
export function clientIn(owner: CredentialOwner): string | null {
  return "client" in owner ? owner.client : null;
}

/** How the audit and people name one. */
export function subjectOf(owner: CredentialOwner, name: string): string {
  return "client" in owner ? `${owner.client}/${name}` : `${owner.workflow}/${name}`;
}
