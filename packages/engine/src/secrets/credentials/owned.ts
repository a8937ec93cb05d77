import type { CredentialCipher, CredentialOwner, CredentialRecord, CredentialStore } from "../../ports/credentials.ts";
import { askToken, isFresh, TokenEndpointLost, type TokenParts, TokenRefused } from "./ask-token.ts";
import { type CredentialContent, openContent, replacing, sealRecord } from "./content.ts";
import { OAuth2 } from "./kinds.ts";

/** What opened credentials are made of. */
export interface CredentialParts extends TokenParts {
  store: CredentialStore;
  cipher: CredentialCipher;
}

/** A credential of an owner; opened when it is first needed, and once. */
export class OwnedCredential {
  readonly #parts: CredentialParts;
  #record: CredentialRecord;
  #opening: Promise<CredentialContent> | undefined;
  #refreshing: Promise<CredentialContent> | undefined;

  constructor(parts: CredentialParts, record: CredentialRecord) {
    this.#parts = parts;
    this.#record = record;
  }

  get record(): CredentialRecord {
    return this.#record;
  }

  /** Throws `CredentialLocked`. */
  content(): Promise<CredentialContent> {
    this.#opening ??= openContent(this.#parts.cipher, this.#record).catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** One token for all nodes that need it now; an endpoint that was lost is not asked again for them. */
  refreshed(refresh: () => Promise<CredentialContent>): Promise<CredentialContent> {
    this.#refreshing ??= this.#forgetting(refresh());
    return this.#refreshing;
  }

  async #forgetting(refreshing: Promise<CredentialContent>): Promise<CredentialContent> {
    try {
      const content = await refreshing;
      this.#refreshing = undefined;
      return content;
    } catch (error) {
      if (!(error instanceof TokenEndpointLost)) this.#refreshing = undefined;
      throw error;
    }
  }

  /** A later revision, which this process has written or read. */
  become(record: CredentialRecord, content?: CredentialContent): void {
    this.#record = record;
    this.#opening = content && Promise.resolve(content);
  }
}

/** The credentials of one owner as they were read. */
export async function readOwned(parts: CredentialParts, owner: CredentialOwner): Promise<OwnedCredential[]> {
  return (await parts.store.list(owner)).map((record) => new OwnedCredential(parts, record));
}

/** As often as others may have been faster. */
const maxTries = 3;

/** With an access token that lives for a minute, stored before it is used. Throws `TokenRefused`. */
export function freshContent(parts: CredentialParts, credential: OwnedCredential): Promise<CredentialContent> {
  return credential.refreshed(() => untilFresh(parts, credential));
}

async function untilFresh(parts: CredentialParts, credential: OwnedCredential): Promise<CredentialContent> {
  for (let tries = 1; ; tries++) {
    const content = await credential.content();
    const values = OAuth2.parse(content.values);
    if (isFresh(values, parts.now())) return content;
    try {
      const refreshed = await refresh(parts, credential.record, content, values);
      if (refreshed) {
        credential.become(refreshed.record, refreshed.content);
        return refreshed.content;
      }
    } catch (error) {
      // A server that gives a new refresh token with each use refuses the slower of two.
      if (!(error instanceof TokenRefused) || !(await isOvertaken(parts, credential))) throw error;
    }
    if (tries === maxTries) throw new TokenRefused("others keep changing it - try again in a minute");
    await readAgain(parts, credential);
  }
}

async function refresh(parts: CredentialParts, old: CredentialRecord, content: CredentialContent, values: OAuth2) {
  const next = replacing(await askToken(values, parts), { kind: "oauth2", content }, parts.now());
  const record = await sealRecord(parts.cipher, { ...placeOf(old), revision: old.revision + 1 }, next);
  return (await parts.store.put(record)) ? { record, content: next } : undefined;
}

function placeOf({ owner, name, kind, changedAt }: CredentialRecord) {
  return { owner, name, kind, changedAt };
}

async function isOvertaken({ store }: CredentialParts, { record }: OwnedCredential): Promise<boolean> {
  return (await store.get(record))?.revision !== record.revision;
}

async function readAgain({ store }: CredentialParts, credential: OwnedCredential): Promise<void> {
  const record = await store.get(credential.record);
  if (!record) throw new TokenRefused("it was removed meanwhile");
  credential.become(record);
}
