import type {
  CredentialCipher,
  CredentialOwner,
  CredentialRecord,
  CredentialStore,
} from "../../ports/credential-store.ts";
import { TokenEndpointLost, type TokenParts } from "./ask-token.ts";
import { type CredentialContent, openContent } from "./content.ts";

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

  /**
   * Nodes that need it at the same time have one token got for all of them, and an endpoint that was lost is not asked
   * again for them: whoever settles a failed node, and each item of a map, would wait as long once more.
   */
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
