import type { Member } from "@nova/workflow";

/** What a node's code finds of credentials, and nobody but it. */
export interface CredentialOverlay {
  /** Lie over the context in the sandbox, each value as JSON text, and never leave it. */
  members: Member[];
  /** Values that nothing which is kept or shown may contain. */
  secrets: string[];
  /** `host:port`, all that the credentials are for. */
  hosts: string[];
}

/** Credentials of clients and workflows, opened. */
export interface Credentials {
  /**
   * Those that a node declares; `names` undefined: all of the client's and of the workflow's. Throws `NodeFailed` where
   * one that is named is not there or does not open, or a token endpoint gives no token. `asStored`: no endpoint is asked
   * and nothing is stored, tokens are those that were got last. `workflowId` null: only the client's own, for a use that
   * the client itself has chosen.
   */
  forNode(
    client: string,
    workflowId: string | null,
    names: readonly string[] | undefined,
    how?: { asStored: boolean },
  ): Promise<CredentialOverlay>;
  /** The secret values of a client and a workflow as far as they open: for text that was made with them before. */
  secretsOf(client: string, workflowId: string): Promise<string[]>;
  /** What this process has read of an owner counts no more: somebody has just stored something here. */
  forget(owner: CredentialOwner): void;
}

/** What a credential holds: which fields, and which of them are secret. */
export type CredentialKindName = "email" | "database" | "http" | "oauth2" | "custom";

/** Whose it is: a client's, or a workflow's for all of its runs. */
export type CredentialOwner = { client: string } | { workflow: string };

/** A credential as it is stored: what is in it, only the cipher can say. */
export interface CredentialRecord {
  format: 1;
  owner: CredentialOwner;
  name: string;
  kind: CredentialKindName;
  /** Text of a `CredentialContent`, sealed for its owner and name. */
  sealed: string;
  /** Names the key that sealed it. */
  key: string;
  /** From 1; every write makes it one more. */
  revision: number;
  /** ISO 8601; when a person stored it, which neither a refreshed token nor another key changes. */
  changedAt: string;
}

/** Which credential: its place in the store. */
export type CredentialPlace = Pick<CredentialRecord, "owner" | "name">;

export interface CredentialStore {
  /** By name; strongly consistent. */
  list(owner: CredentialOwner): Promise<CredentialRecord[]>;
  get(place: CredentialPlace): Promise<CredentialRecord | undefined>;
  /** Writes revision `record.revision` over the one before, or the first one; false where another one lies there. */
  put(record: CredentialRecord): Promise<boolean>;
  /** False when there was none. */
  remove(place: CredentialPlace): Promise<boolean>;
  /** Of all owners, a page at a time; what was written a moment ago may be missing. */
  listAll(after?: string): Promise<{ records: CredentialRecord[]; after?: string }>;
}

/** Encrypts credentials. `context` is not secret; a text opens with exactly the same one only. */
export interface CredentialCipher {
  /** Name of the key that seals from now on. */
  currentKey(): Promise<string>;
  seal(text: string, context: Record<string, string>): Promise<{ sealed: string; key: string }>;
  /** Throws `CredentialLocked`. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
  /** Goes over to a new key, where keys are made here and no rotation is under way. */
  renew(): Promise<void>;
  /** Opens nothing any more that another key than the current one has sealed, where keys are kept here. */
  forgetOldKeys(): Promise<void>;
}
