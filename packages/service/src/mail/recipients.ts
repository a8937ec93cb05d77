import { addressesIn } from "./addresses.ts";
import type { MailHeader } from "./headers.ts";
import { receivedFor } from "./ses-headers.ts";

/** Where a mail is to go: a trigger by its address, and a client. */
export interface Recipient {
  /** The whole address, in lower case. */
  text: string;
  address: string;
  client?: string;
}

/** More would be a mailing of its own, and each may be a run. */
const mostRecipients = 50;

/**
 * Those of a mail's recipients that are NOVA's. SES says for whom it took the mail, but of several it may name one; so
 * where NOVA's domains are known, whoever else To and Cc name there gets it, too.
 */
export function recipientsOf(
  headers: readonly MailHeader[],
  ses: readonly MailHeader[],
  domains: readonly string[],
): Recipient[] {
  const received = receivedFor(ses);
  const named = headers.filter(({ name }) => name === "to" || name === "cc").flatMap(({ value }) => addressesIn(value));
  const isOurs = (address: string) => domains.includes(address.slice(address.lastIndexOf("@") + 1));
  const own = domains.length > 0 ? [...received, ...named].filter(isOurs) : received.length > 0 ? received : named;
  return [...new Set(own)].slice(0, mostRecipients).map(recipientOf);
}

/** `invoices+acme@in.example.com`. */
function recipientOf(text: string): Recipient {
  const local = text.slice(0, text.lastIndexOf("@"));
  const [address = "", client] = [
    local.split("+", 1)[0],
    local.includes("+") ? local.slice(local.indexOf("+") + 1) : undefined,
  ];
  return { text, address, ...(client !== undefined && { client }) };
}
