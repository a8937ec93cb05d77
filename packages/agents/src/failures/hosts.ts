export function hostsInMessage(text: string): string[] {
  return findHosts(text, [
    /\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/@"']*@)?([a-z0-9_.-]+)/gi,
    /\bhost(?:name)?\s*[=:]?\s*['"]([^'"]+)['"]/gi,
    /\bserver at ['"]([^'"]+)['"]/gi,
    /\bhost name ['"]([^'"]+)['"]/gi,
    /\bresolve(?: host)?:? ['"]?([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)/gi,
    /\(\s*['"]([a-z0-9_.:-]+)['"],\s*\d{1,5}\b/gi,
  ]);
}

/**
 * Finds hosts that the code contains: in URLs, as arguments of clients, and in variables named after hosts. Defaults
 * (`context.get("host", "...")`) count only if the context lacks the key, which `has` checks.
 */
export function hostsInCode(code: string, has: (key: string) => boolean): string[] {
  const source = code.replace(/^[ \t]*#.*$/gm, "");
  const defaults = Array.from(
    source.matchAll(/\.get\(\s*["'](\w*(?:host|server|url|endpoint)\w*)["']\s*,\s*["']([^"'\s]+)["']\s*\)/gi),
    ([whole, key = "", value = ""]) => ({ whole, key, value }),
  );
  const rest = defaults.reduce((text, { whole }) => text.replace(whole, ".get()"), source);
  const taken = defaults.filter(({ key }) => !has(key)).map(({ value }) => hostOf(value));
  const spelt = findHosts(rest, [
    /\b[a-z][a-z0-9+]*:\/\/(?:[^\s/@"'{}]*@)?([a-z0-9_.-]+)(?=[:/"'?#\s]|$)/gi,
    /\b(?:IMAP4|IMAP4_SSL|SMTP|SMTP_SSL|POP3|POP3_SSL|FTP|FTP_TLS|HTTPConnection|HTTPSConnection|create_connection|connect|gethostbyname|getaddrinfo)\(\s*\(?\s*["']([a-z0-9_.-]+)["']/gi,
    /\b\w*(?:host|hostname|server)\s*=\s*["']([a-z0-9_.-]+)["']/gi,
    /["'\s]host=([a-z0-9_.-]+)/gi,
  ]);
  return [...taken, ...spelt].filter((host) => host !== "" && !isNamespace(host));
}

function findHosts(text: string, patterns: readonly RegExp[]): string[] {
  const hosts = patterns.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, host = ""]) => host.toLowerCase()),
  );
  return Array.from(new Set(hosts.map((host) => host.replace(/\.$/, ""))));
}

/** Extracts the host from a URL or host name. */
function hostOf(text: string): string {
  return (/^(?:[a-z][a-z0-9+]*:\/\/)?(?:[^/@]*@)?([a-z0-9_.-]+)/i.exec(text)?.[1] ?? "").toLowerCase();
}

/** True for XML namespaces, which look like URLs. */
function isNamespace(host: string): boolean {
  return /^(www\.w3\.org|schemas\.|purl\.org)/.test(host);
}

/**
 * Finds the reason for an unreachable host in the log of a run, because isolated code only sees a broken connection.
 * Empty if the log has none.
 */
export function findUnreachableHost(logs: string): string {
  const [, said = ""] = Array.from(logs.matchAll(/^\[network\] (.+ cannot be reached: .+)$/gm)).at(-1) ?? [];
  return said;
}
