import type { Member } from "@nova/workflow";

/** The credentials of a node. Only its code may see them. */
export interface CredentialOverlay {
  /** Members to add to the context in the sandbox, each value as JSON text. They never leave the sandbox. */
  members: Member[];
  /** Values that no stored or shown text may contain. */
  secrets: string[];
  /** Each `host:port` that the credentials give access to. */
  hosts: string[];
}

/** Opened credentials of clients and workflows. */
export interface Credentials {
  /**
   * The credentials that a node declares; if `names` is undefined, all of the client and the workflow. Throws
   * `NodeFailed` if a named one is missing or does not open, or if a token endpoint gives no token. With `asStored` no
   * endpoint is called and no token is stored: the tokens are the last stored ones. With `workflowId` null only the
   * client's own count, for a use that the client itself has chosen.
   */
  forNode(
    client: string,
    workflowId: string | null,
    names: readonly string[] | undefined,
    how?: { asStored: boolean },
  ): Promise<CredentialOverlay>;
  /** The secret values of a client and a workflow that open, for masking text that was made with them before. */
  secretsOf(client: string, workflowId: string): Promise<string[]>;
  /** Discards the credentials in memory of an owner, after a write in this process. */
  forget(owner: CredentialOwner): void;
}

/** The kind of a credential: it defines the fields, and which of them are secret. */
export type CredentialKindName = "email" | "database" | "http" | "oauth2" | "custom";

/** The owner: a client, or a workflow for all of its runs. */
export type CredentialOwner = { client: string } | { workflow: string };

/** A stored credential. Only the cipher can open its content. */
export interface CredentialRecord {
  format: 1;
  owner: CredentialOwner;
  name: string;
  kind: CredentialKindName;
  /** Text of a `CredentialContent`, sealed for its owner and name. */
  sealed: string;
  key: string;
  /** Starts at 1; every write increases it by one. */
  revision: number;
  /** The time at which a person stored it, ISO 8601. A refreshed token or another key does not change it. */
  changedAt: string;
}

/** Identifies a credential in the store. */
export type CredentialPlace = Pick<CredentialRecord, "owner" | "name">;

export interface CredentialStore {
  /** Sorted by name; strongly consistent. */
  list(owner: CredentialOwner): Promise<CredentialRecord[]>;
  get(place: CredentialPlace): Promise<CredentialRecord | undefined>;
  /** Writes revision `record.revision` over the one before it. Returns false if another revision is stored. */
  put(record: CredentialRecord): Promise<boolean>;
  /** Returns false if there was none. */
  remove(place: CredentialPlace): Promise<boolean>;
  /** Credentials of all owners, a page at a time; eventually consistent. */
  listAll(after?: string): Promise<{ records: CredentialRecord[]; after?: string }>;
}

/** Encrypts credentials. `context` is not secret; a text opens only with exactly the same context. */
export interface CredentialCipher {
  currentKey(): Promise<string>;
  seal(text: string, context: Record<string, string>): Promise<{ sealed: string; key: string }>;
  /** Throws `CredentialLocked`. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
  /** Switches to a new key, if the cipher makes its own keys and no rotation is under way. */
  renew(): Promise<void>;
  /** Removes all keys except the current one, if the cipher keeps its own keys. */
  forgetOldKeys(): Promise<void>;
}

/** `fetch` for addresses that a user named: no redirects, a limited answer. Throws `HostRefused`. */
export type OutgoingFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A user named a host that NOVA does not call. The message never says what is there. */
export class HostRefused extends Error {
  override name = "HostRefused";
}
