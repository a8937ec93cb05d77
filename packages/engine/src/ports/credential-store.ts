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
