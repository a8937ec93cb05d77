import { addressesIn } from "./addresses.ts";
import { headerOf, type MailHeader } from "./headers.ts";

/** Whom the head of a mail names as its sender, in lower case; empty where it names nobody. */
export function senderOf(headers: readonly MailHeader[]): string {
  const from = headerOf(headers, "from") ?? "";
  const open = from.lastIndexOf("<");
  return addressesIn(open === -1 ? from : from.slice(open))[0] ?? "";
}

/** Why a sender may not write; undefined where they may. */
export function refusedSender(
  headers: readonly MailHeader[],
  allowed: readonly string[] | undefined,
): string | undefined {
  if (allowed === undefined) return undefined;
  const named = headers.filter(({ name }) => name === "from");
  // Of several, who checks and who reads could each take another one.
  if (named.length !== 1 || !namesOne(named[0]?.value ?? "")) return "it does not name exactly one sender";
  const sender = senderOf(headers);
  const domain = sender.slice(sender.lastIndexOf("@"));
  if (sender !== "" && (allowed.includes(sender) || allowed.includes(domain))) return undefined;
  return `${sender || "its sender"} is not in the trigger's list of senders`;
}

const mailbox = "[^<>@,;:\\s]+@[^<>@,;:\\s]+";
const oneMailbox = new RegExp(`^(${mailbox}|[^<>@,;:]*<\\s*${mailbox}\\s*>)$`);

/** One address, with or without a name before it; what is quoted, or in parentheses, names nobody. */
function namesOne(from: string): boolean {
  return oneMailbox.test(from.replace(/"(?:[^"\\]|\\.)*"|\([^()]*\)/g, "").trim());
}
