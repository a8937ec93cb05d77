import { Resolver } from "node:dns/promises";
import type { DmarcPolicies } from "../ports/mail.ts";

/** Reads the TXT records of a name. */
export type ReadTxt = (name: string) => Promise<string[][]>;

/** The servers belong to the sender's domain, so the time limit is short: a sender must not keep a function waiting. */
const readTxt: ReadTxt = (name) => new Resolver({ timeout: 1_000, tries: 2 }).resolveTxt(name);

/** Limit of DMARCbis for the parent names to query: the sender chooses the number of labels. */
const maxLabels = 7;

/**
 * Builds a reader of the policy that a domain publishes for mail that fails DMARC (RFC 7489, 6.6.3). A name without a
 * record uses the record of a parent domain; public suffixes have none. If DNS does not answer, the policy is `reject`:
 * a forged sender must not profit from an outage.
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
