import type { MailHeader } from "./headers.ts";

export const noSingleSender = "it does not name exactly one sender";

/** Longer ones are made to keep a pattern busy. */
const maxLetters = 2_000;
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const addressPattern = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`);

/**
 * The one sender that the head of a mail names, in lower case; empty where it names none, or several. SES and the code of
 * nodes must read the same address, so what could be read in two ways (two headers, lists, groups, names that are
 * addresses, quoted or encoded addresses) names nobody.
 */
export function senderOf(headers: readonly MailHeader[]): string {
  const [from, ...others] = headers.filter(({ name }) => name === "from");
  if (!from || others.length > 0 || from.value.length > maxLetters) return "";
  const text = from.value.replace(/"(?:[^"\\]|\\.)*"|\([^()\\]*\)/g, " ").trim();
  const [, name = "", inBrackets] = /^([^<>@,;:"()]*|[^<>,;:"()\s]+\s*)<\s*([^<>\s]+)\s*>$/.exec(text) ?? [];
  const address = (inBrackets ?? text).toLowerCase();
  // Many programs write the address as the name, too.
  const isOne = !name.includes("@") || name.trim().toLowerCase() === address;
  return isOne && addressPattern.test(address) && !address.includes("=?") ? address : "";
}

/** Why a sender may not write; undefined where they may. */
export function refusedSender(
  headers: readonly MailHeader[],
  allowed: readonly string[] | undefined,
): string | undefined {
  if (allowed === undefined) return undefined;
  const sender = senderOf(headers);
  if (sender === "") return noSingleSender;
  const domain = sender.slice(sender.lastIndexOf("@"));
  if (allowed.includes(sender) || allowed.includes(domain)) return undefined;
  return `${sender} is not in the trigger's list of senders`;
}
