import {
  type CredentialKindName,
  CredentialLocked,
  type CredentialOwner,
  type CredentialRecord,
  type CredentialValues,
  checkValues,
  openContent,
  recoverFrom,
  replacing,
  sealRecord,
} from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { Conflict, NotFound, Refused } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { everyItem } from "../ports/page.ts";
import { findWorkflow } from "../workflows/find.ts";

/**
 * Checks that the owner exists and that the caller may access it. All clients share the credentials of a workflow, so
 * access to these needs a key for all clients. Throws `NotFound` if the owner does not exist or is out of the caller's
 * reach, and `Forbidden` if the key is for one client and the owner is a workflow.
 */
async function demandOwner(ports: ServicePorts, by: Principal | null, owner: CredentialOwner): Promise<void> {
  if ("client" in owner) {
    await demandClient(ports, by, owner.client);
    return;
  }
  if (by) demandAllClients(by);
  await findWorkflow(ports, owner.workflow);
}

/** Returns the audit fields of a credential. `client` is null for a workflow's credential. */
function describeCredential(owner: CredentialOwner, name: string) {
  const [client, of] = "client" in owner ? [owner.client, owner.client] : [null, owner.workflow];
  return { client, subject: `${of}/${name}` };
}

type CredentialName = Pick<CredentialRecord, "owner" | "name">;

/** The public fields of a credential, without its values. */
export type CredentialInfo = Pick<CredentialRecord, "name" | "kind" | "changedAt">;

/** Maximum number of credentials of an owner. It is limited, because every run reads all of them. */
const maxOfOwner = 50;

/**
 * Stores a credential and replaces the previous one. NOVA masks the replaced secrets for some more days, since running
 * nodes may still use them. Throws as `demandOwner` does, and `Conflict` if another request changes the credential at
 * the same time. Throws `Refused` if the owner has too many credentials, or if values do not fit. The message then
 * names fields but no values.
 */
export async function setCredential(
  ports: ServicePorts,
  by: Principal | null,
  { owner, name, kind, values }: { owner: CredentialOwner; name: string; kind: CredentialKindName; values: unknown },
): Promise<CredentialInfo> {
  await demandOwner(ports, by, owner);
  const checked = demandFitting(kind, values);
  const all = await ports.credentialStore.list(owner);
  const before = all.find((one) => one.name === name);
  if (!before && all.length >= maxOfOwner) {
    throw new Refused(`there are ${maxOfOwner} credentials already, and no more fit - remove one that is not used`);
  }
  const now = ports.clock.now();
  // If no key can decrypt the previous secrets, NOVA cannot mask them. The new credential still replaces them.
  const replaced =
    before && (await openContent(ports.credentialCipher, before).catch(recoverFrom(CredentialLocked, () => undefined)));
  const content = replacing(checked, before && replaced && { kind: before.kind, content: replaced }, now);
  const place = { owner, name, kind, revision: (before?.revision ?? 0) + 1, changedAt: new Date(now).toISOString() };
  const record = await sealRecord(ports.credentialCipher, place, content);
  if (!(await ports.credentialStore.put(record))) {
    throw new Conflict(`credential "${name}" was changed by somebody else at this moment - try again`);
  }
  ports.credentials.forget(owner);
  await recordDeed(ports, by, { action: "credential.set", ...describeCredential(owner, name), detail: { kind } });
  return infoOf(record);
}

/** Lists credentials by name. Throws as `demandOwner` does. */
export async function listCredentials(ports: ServicePorts, by: Principal | null, owner: CredentialOwner) {
  await demandOwner(ports, by, owner);
  return (await ports.credentialStore.list(owner)).map(infoOf);
}

/** Finds a credential. Throws as `demandOwner` does, and `NotFound` if there is no such credential. */
export async function credentialOf(ports: ServicePorts, by: Principal | null, named: CredentialName) {
  await demandOwner(ports, by, named.owner);
  const record = await ports.credentialStore.get(named);
  if (!record) throw noCredential(named.name);
  return infoOf(record);
}

/** Removes a credential. Throws as `demandOwner` does, and `NotFound` if there is no such credential. */
export async function removeCredential(ports: ServicePorts, by: Principal | null, { owner, name }: CredentialName) {
  await demandOwner(ports, by, owner);
  const isRemoved = await ports.credentialStore.remove({ owner, name });
  ports.credentials.forget(owner);
  if (!isRemoved) throw noCredential(name);
  await recordDeed(ports, by, { action: "credential.removed", ...describeCredential(owner, name) });
}

/** Removes all credentials of an owner that is being removed. */
export async function removeCredentialsOf(ports: ServicePorts, owner: CredentialOwner): Promise<void> {
  for (const { name } of await ports.credentialStore.list(owner)) await ports.credentialStore.remove({ owner, name });
  ports.credentials.forget(owner);
}

function demandFitting(kind: CredentialKindName, values: unknown): CredentialValues {
  const checked = checkValues(kind, values);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => [path.join("."), message].filter(Boolean).join(" "));
  throw new Refused(`these are no values of the kind ${kind}: ${problems.join("; ")}`);
}

function infoOf({ name, kind, changedAt }: CredentialRecord): CredentialInfo {
  return { name, kind, changedAt };
}

function noCredential(name: string): NotFound {
  return new NotFound(`there is no credential "${name}" here - GET lists them`);
}

export interface RotationResult {
  /** Number of credentials that this call encrypted with the new key. */
  sealed: number;
  /** Names of credentials that no key decrypts, such as `client:idom email`. They stay unchanged. */
  locked: string[];
}

/**
 * Maximum number of attempts to write one credential. An attempt fails if the credential was changed at the same time.
 */
const maxTries = 3;

/**
 * Encrypts every credential with a new key. The old key is kept until all credentials have the new key. After an
 * interruption, the next call skips the credentials that already have the newest key. Throws `Forbidden` if the
 * caller's key is for one client.
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
  // Keeps the old keys while there are credentials that no key decrypts, because an operator may find their key later.
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
    // Reads the record again, because `listed` may be out of date.
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
