import { CredentialLocked, type CredentialRecord, openContent, sealRecord } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";

export interface RotationResult {
  /** Number of credentials that this call encrypted with the new key. */
  sealed: number;
  /** Credentials that no key decrypts, unchanged: `client:idom email`. */
  locked: string[];
}

/** More concurrent changes of one credential than this are not expected. */
const maxTries = 3;

/**
 * Encrypts every credential with a new key. The old key stays until all are done. After an interruption, the next call
 * continues: credentials with the new key are skipped. Throws `Forbidden`.
 */
export async function rotateCredentials(ports: ServicePorts, by: Principal | null): Promise<RotationResult> {
  if (by) demandAllClients(by);
  const { credentialCipher: cipher } = ports;
  await cipher.renew();
  const key = await cipher.currentKey();
  const rotated: RotationResult = { sealed: 0, locked: [] };
  const pageAt = async (cursor?: string) => {
    const { records, after } = await ports.credentialStore.listAll(cursor);
    return { items: records, cursor: after };
  };
  for await (const record of everyItem(pageAt)) {
    const outcome = record.key === key ? "done" : await resealCredential(ports, record, key);
    if (outcome === "sealed") rotated.sealed++;
    if (outcome === "locked") rotated.locked.push(`${Object.entries(record.owner)[0]?.join(":")} ${record.name}`);
  }
  // Keep the old keys while credentials are locked: a missing key may be found later.
  if (rotated.locked.length === 0) await cipher.forgetOldKeys();
  const detail = { sealed: rotated.sealed, locked: rotated.locked.length };
  await recordDeed(ports, by, { action: "credentials.rotated", client: null, subject: key, detail });
  return rotated;
}

async function resealCredential(
  { credentialStore, credentialCipher, credentials }: ServicePorts,
  listed: CredentialRecord,
  key: string,
): Promise<"sealed" | "done" | "locked"> {
  for (let tries = 1; tries <= maxTries; tries++) {
    // Read again: the listed record may be out of date.
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
