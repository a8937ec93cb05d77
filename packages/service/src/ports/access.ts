import type { Person } from "@nova/engine";
import type { Range } from "./page.ts";

/** Each role includes the rights of the roles before it. */
export const roles = ["viewer", "runner", "editor", "admin"] as const;

export type Role = (typeof roles)[number];

/** A key of the API. Only a digest of its secret is stored. */
export interface ApiKey {
  format: 1;
  id: string;
  role: Role;
  /** The only client that the key reaches; null: all clients. */
  client: string | null;
  name: string;
  /** The mail address of the person who has the key, in lower case, as an administrator set it. Absent: none. */
  identity?: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  createdAt: string;
  /** Id of the key that made this one; null: the operator who set NOVA up. */
  createdBy: string | null;
}

export interface KeyStore {
  /** Stores a new key. Returns false if its id is taken. */
  create(key: ApiKey): Promise<boolean>;
  /** Reads a key. The read is strongly consistent, so a removed key stops working immediately. */
  get(id: string): Promise<ApiKey | undefined>;
  /** Removes a key. Returns false if there was no such key. */
  remove(id: string): Promise<boolean>;
  /** Lists keys, oldest first; with `client` only keys of that client. */
  list(query: Range & { client?: string | undefined }): Promise<ApiKey[]>;
}

/** The caller of a request. */
export interface Principal extends Pick<ApiKey, "id" | "role" | "client" | "name"> {
  /** The person who sends the request. Absent: NOVA has proved no identity. */
  person?: Person;
}

/** Reads tokens of an identity provider. */
export interface TokenIssuer {
  /**
   * Returns the caller; null if the token is from another issuer, has expired, or names no role. Throws
   * `IssuerUnreachable`.
   */
  principalOf(token: string): Promise<Principal | null>;
}

/** The rate limit of requests per key. */
export interface Rates {
  take(by: Pick<Principal, "id" | "client">): Promise<void>;
}

/** Counts the requests of each key, shared by all processes. */
export interface RateStore {
  /** Adds `count` to a window. Returns false, and adds nothing, if the sum would exceed `limit`. */
  add(by: Pick<Principal, "id" | "client">, window: RateWindow, count: number, limit: number): Promise<boolean>;
}

export interface RateWindow {
  /** The start of the window in milliseconds since the epoch. */
  beginsAt: number;
  seconds: number;
}

/** A request with an `Idempotency-Key`. */
export interface Attempt {
  format: 1;
  /** Id of the API key that sent the request. Equal idempotency keys of two API keys never collide. */
  principal: string;
  /** The client of the API key; absent for a key for all clients. */
  client?: string;
  key: string;
  fingerprint: string;
  /**
   * The ULID reserved for the result, so that a process that takes over an abandoned attempt makes the thing with the
   * same id.
   */
  id: string;
  /** ISO 8601: when a process last started on the attempt. */
  since: string;
  /** The result as JSON text; absent while the attempt is in progress. */
  made?: string;
  /** When DynamoDB deletes the record (its time to live), in seconds since the epoch. */
  expiresAt: number;
}

export type AttemptName = Pick<Attempt, "principal" | "key">;

export interface AttemptStore {
  /**
   * Stores an attempt and returns undefined. If an attempt with its key exists that has not expired, returns that
   * attempt instead.
   */
  begin(attempt: Attempt, now: number): Promise<Attempt | undefined>;
  /** Takes over an attempt that started at `since`. Returns false if another process has already taken it over. */
  takeOver(name: AttemptName, since: string, now: string): Promise<boolean>;
  /** Stores the result. Does nothing if the attempt was erased with its client. */
  finish(name: AttemptName, made: string): Promise<void>;
  /**
   * Lets the next request take the attempt over immediately. Does nothing if the attempt was erased with its client.
   */
  release(name: AttemptName): Promise<void>;
}

export const auditActions = [
  "workflow.published",
  "workflow.activated",
  "workflow.deleted",
  "code.approved",
  "code.rejected",
  "workflow.limited",
  "workflow.paused",
  "workflow.resumed",
  "schedule.paused",
  "schedule.resumed",
  "execution.cancelled",
  "execution.restarted",
  "execution.erased",
  "session.created",
  "session.edited",
  "session.run",
  "session.published",
  "session.deleted",
  "task.answered",
  "task.withdrawn",
  "task.delegated",
  "client.created",
  "client.changed",
  "client.deleted",
  "client.erased",
  "client.exported",
  "credential.set",
  "credential.removed",
  "credentials.rotated",
  "signing_key.rotated",
  "key.created",
  "key.deleted",
] as const;

export type AuditAction = (typeof auditActions)[number];

/** An action of a user or a key; written once. */
export interface AuditRecord {
  format: 1;
  id: string;
  at: string;
  action: AuditAction;
  /** Id of the key that acted; null: the operator who set NOVA up. */
  by: string | null;
  /** The client that the action concerns; null: all clients. */
  client: string | null;
  subject: string;
  detail: Record<string, string | number>;
}

export interface AuditLog {
  /** Stores a record. Does nothing if the record exists. */
  append(record: AuditRecord): Promise<void>;
  /** Lists records, newest first; with `client` only records of that client. */
  list(query: Range & { client?: string | undefined }): Promise<AuditRecord[]>;
}
