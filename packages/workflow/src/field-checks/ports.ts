import { isIPv4 } from "node:net";
import { type Finding, finding } from "../findings/finding.ts";

/** The ports at which E2B itself filters by name. */
const webPorts = ["80", "443"];

/**
 * Warns of names with ports, which E2B can only filter as addresses. It reads the written fields, which may have any
 * type.
 */
export function* checkPorts(network: unknown, name: string, path: (index: number) => string): Iterable<Finding> {
  const allow = (network as { allow?: unknown } | null | undefined)?.allow;
  if (!Array.isArray(allow)) return;
  for (const [index, entry] of allow.entries()) {
    if (typeof entry !== "string" || nameToResolve(entry.trim()) === undefined) continue;
    const message = `${name}: E2B itself cannot enforce ports, so "${entry}" is resolved before each run and only the sandbox enforces the port - write an address instead of a name`;
    yield finding("NOVA424", path(index), message);
  }
}

/** Returns the name in an entry of `allow` if E2B does not filter names at the entry's port. */
export function nameToResolve(entry: string): string | undefined {
  const [, host = "", port = ""] = /^([^:[\]/]+):(\d+)$/.exec(entry) ?? [];
  return host === "" || isIPv4(host) || host === "localhost" || webPorts.includes(port) ? undefined : host;
}
