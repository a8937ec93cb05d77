import type { Member } from "@nova/workflow";

/** The values of a node's credentials in the form in which the code of the node sees them. */
export interface CredentialOverlay {
  /** Members to add to the context in the sandbox, each value as JSON text. They never leave the sandbox. */
  members: Member[];
  /** The secret values. No text that NOVA stores or shows may contain a secret value. */
  secrets: string[];
  /** Each `host:port` that the credentials give access to. */
  hosts: string[];
}

/** Opens the credentials of clients and workflows for nodes. */
export interface Credentials {
  /**
   * Opens the credentials in `names`; if `names` is undefined, all credentials of the client and the workflow. Throws
   * `NodeFailed` if a named credential is missing or cannot be decrypted, or if a token endpoint gives no token. With
   * `asStored`, uses the tokens that were stored last, and calls no endpoint. With `workflowId` null, only the client's
   * own credentials count.
   */
  forNode(
    client: string,
    workflowId: string | null,
    names: readonly string[] | undefined,
    how?: { asStored: boolean },
  ): Promise<CredentialOverlay>;
  /**
   * Returns all secret values of the client's and the workflow's credentials. Leaves out credentials that cannot be
   * decrypted. Callers mask these values in texts.
   */
  secretsOf(client: string, workflowId: string): Promise<string[]>;
  /** Removes an owner's credentials from memory, after this process has written one of them. */
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
  /**
   * The time at which a person last stored this credential, ISO 8601. A refreshed access token or a new encryption key
   * does not change it.
   */
  changedAt: string;
}

/** Identifies a credential in the store. */
export type CredentialPlace = Pick<CredentialRecord, "owner" | "name">;

export interface CredentialStore {
  /** Returns the credentials of an owner, sorted by name. Strongly consistent. */
  list(owner: CredentialOwner): Promise<CredentialRecord[]>;
  get(place: CredentialPlace): Promise<CredentialRecord | undefined>;
  /** Replaces the revision before `record.revision` by `record`. Returns false if another revision is stored. */
  put(record: CredentialRecord): Promise<boolean>;
  /** Removes a credential. Returns false if it did not exist. */
  remove(place: CredentialPlace): Promise<boolean>;
  /** Returns a page of the credentials of all owners, after the cursor `after`. Eventually consistent. */
  listAll(after?: string): Promise<{ records: CredentialRecord[]; after?: string }>;
}

/**
 * Encrypts credentials. `context` is not secret: it names the owner, and `open` needs exactly the `context` of `seal`.
 */
export interface CredentialCipher {
  currentKey(): Promise<string>;
  seal(text: string, context: Record<string, string>): Promise<{ sealed: string; key: string }>;
  /** Throws `CredentialLocked` if the text was changed, or was sealed with another key or another context. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
  /**
   * Makes a new key, with which the cipher seals all later texts. Does nothing if the cipher does not make its own
   * keys, or if a change of keys is in progress.
   */
  renew(): Promise<void>;
  /** Removes all keys except the current one. Does nothing if the cipher does not keep its own keys. */
  forgetOldKeys(): Promise<void>;
}

/**
 * A `fetch` for addresses that a user has entered: it follows no redirects and limits the size of the answer. Throws
 * `HostRefused` for an address that NOVA never calls.
 */
export type OutgoingFetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Thrown for an address that NOVA never calls, for example inside its own network. The message never says what is at
 * that address.
 */
export class HostRefused extends Error {
  override name = "HostRefused";
}
