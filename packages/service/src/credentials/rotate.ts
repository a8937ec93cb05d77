import { CredentialLocked, type CredentialRecord, openContent, sealRecord } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";

export interface Rotated {
  /** Sealed with the new key by this call. */
  sealed: number;
  /** Did not open, and stay as they are: `client:idom email`. */
  locked: string[];
}

/** As often as somebody may be storing the same credential. */
const maxTries = 3;

/**
 * Seals every credential with a new key; the old one opens what it has sealed until all is done. One that was
 * interrupted goes on where it was: what the new key has sealed is left alone. Throws `Forbidden`.
 */
export async function rotateCredentials(ports: ServicePorts, by: Principal | null): Promise<Rotated> {
  if (by) demandAllClients(by);
  const { credentialCipher: cipher } = ports;
  await cipher.renew();
  const key = await cipher.currentKey();
  const rotated: Rotated = { sealed: 0, locked: [] };
  const pageAt = async (cursor?: string) => {
    const { records, after } = await ports.credentialStore.listAll(cursor);
    return { items: records, cursor: after };
  };
  for await (const record of everyItem(pageAt)) {
    const outcome = record.key === key ? "done" : await sealAnew(ports, record, key);
    if (outcome === "sealed") rotated.sealed++;
    if (outcome === "locked") rotated.locked.push(`${Object.entries(record.owner)[0]?.join(":")} ${record.name}`);
  }
  // What does not open now may do so once its key is found.
  if (rotated.locked.length === 0) await cipher.forgetOldKeys();
  const detail = { sealed: rotated.sealed, locked: rotated.locked.length };
  await recordDeed(ports, by, { action: "credentials.rotated", client: null, subject: key, detail });
  return rotated;
}

async function sealAnew(
  { credentialStore, credentialCipher, credentials }: ServicePorts,
  listed: CredentialRecord,
  key: string,
): Promise<"sealed" | "done" | "locked"> {
  for (let tries = 1; tries <= maxTries; tries++) {
    // The list may be behind.
    const record = await credentialStore.get(listed);
    if (!record || record.key === key) return "done";
    const { owner, name, kind, changedAt, revision } = record;
    try {
      const content = await openContent(credentialCipher, record);
      const place = { owner, name, kind, changedAt, revision: revision + 1 };
      if (!(await credentialStore.put(await sealRecord(credentialCipher, place, content)))) continue;
    } catch (error) {
      if (error instanceof CredentialLocked) return "locked";
      throw error;
    }
    credentials.forget(owner);
    return "sealed";
  }
  return "locked";
}
