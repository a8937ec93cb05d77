import { addressesIn } from "./addresses.ts";
import { headerOf, type MailHeader } from "./headers.ts";

/** What SES puts above a mail that it takes, each at most once, in the order in which it does. */
const added = [
  "return-path",
  "received",
  "x-ses-spam-verdict",
  "x-ses-virus-verdict",
  "received-spf",
  "authentication-results",
  "x-ses-receipt",
  "x-ses-dkim-signature",
];

/**
 * The headers at the top that SES has added. Whatever stands below, a second one of a name among it, was there before,
 * and says what the sender wants it to say.
 */
export function sesHeaders(headers: readonly MailHeader[]): MailHeader[] {
  let at = -1;
  const end = headers.findIndex(({ name }) => {
    const next = added.indexOf(name);
    if (next <= at) return true;
    at = next;
    return false;
  });
  const block = end === -1 ? headers : headers.slice(0, end);
  const authentication = headerOf(block, "authentication-results");
  // Who has checked it stands first in it: a server before SES may have written one, too.
  if (authentication === undefined || /^amazonses\.com\s*;/i.test(authentication)) return [...block];
  return block.filter(({ name }) => name !== "authentication-results");
}

export interface Verdicts {
  spam?: string;
  virus?: string;
  /** `pass`, `fail`, `none`. */
  dmarc?: string;
  /** What the sender's domain asks for where DMARC fails, as far as it is told: `reject`, `quarantine`, `none`. */
  dmarcPolicy?: string;
}

export function verdictsOf(ses: readonly MailHeader[]): Verdicts {
  const authentication = headerOf(ses, "authentication-results") ?? "";
  const [spam, virus] = [headerOf(ses, "x-ses-spam-verdict"), headerOf(ses, "x-ses-virus-verdict")];
  const [, dmarc, rest = ""] = /\bdmarc=(\w+)([^;]*)/i.exec(authentication) ?? [];
  const [, policy] = /\b(?:p|policy)=(\w+)/i.exec(rest) ?? [];
  return {
    ...(spam !== undefined && { spam: spam.toUpperCase() }),
    ...(virus !== undefined && { virus: virus.toUpperCase() }),
    ...(dmarc !== undefined && { dmarc: dmarc.toLowerCase() }),
    ...(policy !== undefined && { dmarcPolicy: policy.toLowerCase() }),
  };
}

/** Whom the mail was for when it came in: To and Cc may name others, or nobody. */
export function receivedFor(ses: readonly MailHeader[]): string[] {
  const [, list = ""] = /\bfor\s+([^;]{1,10000})/i.exec(headerOf(ses, "received") ?? "") ?? [];
  return addressesIn(list);
}
