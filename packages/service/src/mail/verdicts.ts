import type { DmarcPolicies } from "../ports/mail.ts";
import { noSingleSender } from "./sender.ts";
import type { Verdicts } from "./ses-headers.ts";

/**
 * Why a mail is refused for what SES found; undefined where it is not. A domain that asks to reject forged mail is
 * believed only where SES has proven the sender: no result, or one that cannot be read, counts as a failure.
 */
export async function refusedBy(
  { spam, virus, provenDomain }: Verdicts,
  sender: string,
  policies: DmarcPolicies,
): Promise<string | undefined> {
  if (virus === "FAIL") return "SES found a virus in it";
  if (spam === "FAIL") return "SES takes it for spam";
  if (sender === "") return noSingleSender;
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  if (provenDomain === domain || (await policies(domain)) !== "reject") return undefined;
  return `it is not proven to be from ${domain} (DMARC), and the domain asks to reject such mail`;
}
