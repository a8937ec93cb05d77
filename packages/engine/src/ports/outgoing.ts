/**
 * Calls a server that a user has named: `fetch` without redirects, with an answer that is capped. Throws `HostRefused`
 * where nobody may be called.
 */
export type OutgoingFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A user has named a host that NOVA does not call. The message never says what is there. */
export class HostRefused extends Error {
  override name = "HostRefused";
}
