import { addressesIn } from "./addresses.ts";
import { readAuthentication } from "./authentication.ts";
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
  return [...(end === -1 ? headers : headers.slice(0, end))];
}

export interface Verdicts {
  spam?: string;
  virus?: string;
  /** Domain of the sender that SES found to be true (DMARC). */
  provenDomain?: string;
}

export function verdictsOf(ses: readonly MailHeader[]): Verdicts {
  const [spam, virus] = [headerOf(ses, "x-ses-spam-verdict"), headerOf(ses, "x-ses-virus-verdict")];
  const provenDomain = provenDomainIn(headerOf(ses, "authentication-results") ?? "");
  return {
    ...(spam !== undefined && { spam: spam.toUpperCase() }),
    ...(virus !== undefined && { virus: virus.toUpperCase() }),
    ...(provenDomain !== undefined && { provenDomain }),
  };
}

/**
 * Senders choose words on either side of SES's own result, so quotes that they open before and close behind it could hide
 * it. SES writes `dmarc=` once: where it stands twice, one of them is a sender's, and nothing is proven.
 */
function provenDomainIn(header: string): string | undefined {
  if ((header.match(/dmarc\s*=/gi) ?? []).length !== 1) return undefined;
  const read = readAuthentication(header);
  if (read?.server !== "amazonses.com") return undefined;
  const [dmarc, ...others] = read.results.filter(({ method }) => method === "dmarc");
  if (dmarc?.result !== "pass" || others.length > 0) return undefined;
  return dmarc.properties.get("header.from")?.toLowerCase();
}

/** The addresses that the mail was for when it came in: To and Cc may name others, or nobody. */
export function receivedFor(ses: readonly MailHeader[]): string[] {
  const received = headerOf(ses, "received") ?? "";
  // The date is the last part. Before `by` stands what the sender calls itself, which may hold a `for` of its own.
  const [, ...lists] = received.slice(0, received.lastIndexOf(";")).split(/\sfor\s/i);
  return addressesIn(lists.at(-1)?.slice(0, 10_000) ?? "");
}
