/** `fetch` of what a user named: no redirects, a capped answer. Throws `HostRefused`. */
export type OutgoingFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A user has named a host that NOVA does not call. The message never says what is there. */
export class HostRefused extends Error {
  override name = "HostRefused";
}
