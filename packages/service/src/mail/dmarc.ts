import { Resolver } from "node:dns/promises";
import type { DmarcPolicies } from "../ports/mail.ts";

/** How TXT records of a name are read. */
export type ReadTxt = (name: string) => Promise<string[][]>;

/** Servers of a sender's domain are the sender's: they must not keep a function waiting. */
const readTxt: ReadTxt = (name) => new Resolver({ timeout: 1_000, tries: 2 }).resolveTxt(name);

/** Names above a name that are asked: senders choose how many labels theirs has. The limit is that of DMARCbis. */
const maxLabels = 7;

/**
 * A reader of what domains ask for where DMARC fails (RFC 7489, 6.6.3). A name without a record of its own has that of
 * the domains above it; of the public suffixes nothing is known here, and none of them has a record. Where DNS does not
 * answer it is `reject`: whoever forges a sender must not gain by an outage.
 */
export function dmarcPolicies(read: ReadTxt = readTxt): DmarcPolicies {
  return async (domain) => {
    try {
      return (await policyFrom(read, domain, false)) ?? "none";
    } catch {
      return "reject";
    }
  };
}

type Policy = Awaited<ReturnType<DmarcPolicies>>;

async function policyFrom(read: ReadTxt, domain: string, isAbove: boolean): Promise<Policy | undefined> {
  if (!domain.includes(".")) return undefined;
  const record = (await recordsOf(read, domain)).find((text) => /^v=DMARC1\b/i.test(text));
  if (record === undefined) return policyFrom(read, domain.split(".").slice(1).slice(-maxLabels).join("."), true);
  const tag = (name: string) =>
    new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*(none|quarantine|reject)\\b`, "i").exec(record)?.[1];
  return ((isAbove ? tag("sp") : undefined) ?? tag("p") ?? "none").toLowerCase() as Policy;
}

async function recordsOf(read: ReadTxt, domain: string): Promise<string[]> {
  try {
    return (await read(`_dmarc.${domain}`)).map((parts) => parts.join(""));
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw error;
  }
}
