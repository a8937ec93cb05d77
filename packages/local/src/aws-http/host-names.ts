import type { IncomingMessage } from "node:http";

/**
 * Why a request is refused for its `Host`; undefined for a loopback name or one of `others`. A page of another site can
 * point its own name at this machine (DNS rebinding): the browser then sends that name, and lets the page read the answer.
 */
export function refusedHost({ headers }: IncomingMessage, others: readonly string[] = []): string | undefined {
  const { host } = headers;
  // Only programs of HTTP/1.0 send no Host; a browser always does.
  if (host === undefined) return undefined;
  const name = hostName(host);
  if (name !== undefined && (isLoopback(name) || others.includes(name))) return undefined;
  return `this server answers on this machine's own names only, and not as ${JSON.stringify(host.slice(0, 100))} - use http://127.0.0.1, or start nova dev with --host and that name`;
}

/** A host name in lower case, without its port and its last dot; undefined for a text that is none. */
export function hostName(host: string): string | undefined {
  const address = `http://${host}`;
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, "");
}

/** The parser of addresses has written each number of an address as decimal, and an IPv6 address in its short form. */
function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d+){3}$/.test(name);
}
