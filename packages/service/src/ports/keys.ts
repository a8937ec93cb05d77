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
  list(query: Range & { client?: string }): Promise<ApiKey[]>;
}
