import type { Verdicts } from "./ses-headers.ts";

/** What a domain asks for in `_dmarc.<domain>`; see `dmarcPolicyOf`. */
export type DmarcPolicies = (domain: string) => Promise<"none" | "quarantine" | "reject">;

/** Why a mail is refused for what SES found; undefined where it is not. */
export async function refusedBy(
  { spam, virus, dmarc, dmarcPolicy }: Verdicts,
  sender: string,
  policies: DmarcPolicies,
): Promise<string | undefined> {
  if (virus === "FAIL") return "SES found a virus in it";
  if (spam === "FAIL") return "SES takes it for spam";
  if (dmarc !== "fail") return undefined;
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  // SES says that DMARC failed, and not what the domain asks for then.
  if ((dmarcPolicy ?? (await policies(domain))) !== "reject") return undefined;
  return `it is not from ${domain}: DMARC failed, and the domain asks to reject such mail`;
}
