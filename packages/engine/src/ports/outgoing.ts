/** `fetch` for addresses that a user named: no redirects, a limited answer. Throws `HostRefused`. */
export type OutgoingFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A user named a host that NOVA does not call. The message never says what is there. */
export class HostRefused extends Error {
  override name = "HostRefused";
}
