import type { ApiKey } from "./keys.ts";

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
