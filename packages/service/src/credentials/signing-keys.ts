import type { PublicKey } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Conflict } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";

/**
 * Adds a key pair, with which NOVA signs from now on. Throws `Forbidden` if the caller's key is for one client, and
 * `Conflict` if the signing keys are in KMS.
 */
export async function rotateSigningKey(ports: ServicePorts, by: Principal): Promise<PublicKey> {
  demandAllClients(by);
  const added = await ports.keyPair.rotate?.();
  if (!added) throw new Conflict("the keys of this deployment are in KMS - raise NOVA_PROOF_KEYS by one and deploy");
  await recordDeed(ports, by, { action: "signing_key.rotated", client: null, subject: added.kid });
  return added;
}
