import type { Range } from "./page.ts";

/** Each may do what those before it may. */
export const roles = ["viewer", "runner", "editor", "admin"] as const;

export type Role = (typeof roles)[number];

/** A key of the API, without the secret: of that only a digest is kept. */
export interface ApiKey {
  format: 1;
  /** `key_` and a ULID. */
  id: string;
  role: Role;
  /** The one client that it reaches; null: all of them. */
  client: string | null;
  name: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  /** ISO 8601. */
  createdAt: string;
  /** Id of the key that made it; null: whoever set NOVA up. */
  createdBy: string | null;
}

export interface KeyStore {
  /** False when the id is taken. */
  create(key: ApiKey): Promise<boolean>;
  /** Strongly consistent: a key that was removed opens nothing any more. */
  get(id: string): Promise<ApiKey | undefined>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** Oldest first; those of one client where it is named. */
  list(query: Range & { client?: string | undefined }): Promise<ApiKey[]>;
}

/** Who asks. */
export type Principal = Pick<ApiKey, "id" | "role" | "client" | "name">;

/** Whom tokens of an identity provider speak for. */
export interface TokenIssuer {
  /** Null: it is none of the issuer's, or it has expired, or it says nothing of a role. Throws `IssuerUnreachable`. */
  principalOf(token: string): Promise<Principal | null>;
}

/** How often keys may ask. */
export interface Rates {
  /** Counts a request. Throws `TooMany`. */
  take(by: Pick<Principal, "id" | "client">): Promise<void>;
}

/** Requests of a key, counted by everybody together. */
export interface RateStore {
  /** Adds `count` to those of a window unless they would be more than `limit`: then false. */
  add(by: Pick<Principal, "id" | "client">, window: RateWindow, count: number, limit: number): Promise<boolean>;
}

export interface RateWindow {
  /** Milliseconds since the epoch. */
  beginsAt: number;
  seconds: number;
}

/** A request that carries an `Idempotency-Key`. */
export interface Attempt {
  format: 1;
  /** Id of the API key that sent it: keys of others never meet. */
  principal: string;
  /** Whose the key is; absent where it is for all clients. */
  client?: string;
  /** SHA-256 of the header. */
  key: string;
  /** SHA-256 of what was asked. */
  fingerprint: string;
  /** A ULID for what is to be made: whoever takes an abandoned attempt over makes the same thing. */
  id: string;
  /** ISO 8601: when somebody last began with it. */
  since: string;
  /** What was made, JSON text; absent while it is under way. */
  made?: string;
  /** Seconds since the epoch, as DynamoDB's time to live has it. */
  expiresAt: number;
}

export type AttemptName = Pick<Attempt, "principal" | "key">;

export interface AttemptStore {
  /** Undefined: begun. Otherwise the one that is there and has not expired. */
  begin(attempt: Attempt, now: number): Promise<Attempt | undefined>;
  /** Goes on with one that was begun at `since`; false where somebody else already does. */
  takeOver(name: AttemptName, since: string, now: string): Promise<boolean>;
  /** Nothing happens where it went with its client. */
  finish(name: AttemptName, made: string): Promise<void>;
  /** Nobody is at it any more: the next request may take it over at once. Nothing happens where it went with its client. */
  release(name: AttemptName): Promise<void>;
}
