import {
  type CredentialCipher,
  type CredentialKindName,
  CredentialLocked,
  type CredentialOwner,
  type CredentialPlace,
  type CredentialRecord,
  type CredentialStore,
  ownerText,
  sealRecord,
} from "@nova/engine";

const placeText = ({ owner, name }: CredentialPlace) => `${ownerText(owner)} ${name}`;

/** A store of credentials in memory. `reads` lists the owners whose credentials were read. */
export class MemoryCredentials implements CredentialStore {
  readonly reads: string[] = [];
  readonly #records = new Map<string, CredentialRecord>();

  async list(owner: CredentialOwner) {
    this.reads.push(ownerText(owner));
    return [...this.#records.values()]
      .filter((record) => ownerText(record.owner) === ownerText(owner))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get(place: CredentialPlace) {
    return this.#records.get(placeText(place));
  }

  async put(record: CredentialRecord) {
    if ((this.#records.get(placeText(record))?.revision ?? 0) !== record.revision - 1) return false;
    this.#records.set(placeText(record), record);
    return true;
  }

  async remove(place: CredentialPlace) {
    return this.#records.delete(placeText(place));
  }

  /** Returns one credential per page, so that callers have to read several pages. */
  async listAll(after = "0") {
    const record = [...this.#records.values()][Number(after)];
    return record ? { records: [record], after: String(Number(after) + 1) } : { records: [] };
  }

  /** Stores the credential, as the API does when a person stores it. */
  async have(owner: CredentialOwner, name: string, kind: CredentialKindName, values: Record<string, unknown>) {
    const revision = ((await this.get({ owner, name }))?.revision ?? 0) + 1;
    const place = { owner, name, kind, revision, changedAt: "2026-01-01T00:00:00.000Z" };
    await this.put(await sealRecord(mirrorCipher(), place, { format: 1, values, before: [] }));
  }
}

/**
 * Returns a cipher that does not encrypt. It opens a credential only for the owner and name for which it sealed the
 * credential, and only if `keys` has the key. It seals new credentials with the last key.
 */
export function mirrorCipher(keys: string[] = ["key-1"]): CredentialCipher {
  const current = () => keys.at(-1) as string;
  return {
    currentKey: async () => current(),
    seal: async (text, context) => ({ sealed: JSON.stringify([current(), context, text]), key: current() }),
    async open(sealed, context) {
      const [key, sealedFor, text] = JSON.parse(sealed);
      if (!keys.includes(key) || JSON.stringify(sealedFor) !== JSON.stringify(context)) throw new CredentialLocked();
      return text;
    },
    async renew() {
      if (keys.length === 1) keys.push(`key-${Number(current().slice(4)) + 1}`);
    },
    async forgetOldKeys() {
      keys.splice(0, keys.length - 1);
    },
  };
}
