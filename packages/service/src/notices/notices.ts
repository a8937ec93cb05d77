import { type Finding, finding, isMailAddress, nodeIndex, type OnFailure, type Workflow } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Client } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Mailer, Notice } from "../ports/mail.ts";

/** Characters; an approval's message has 4,000 at most. */
const longestText = 20_000;

/** A mail of these lines. What others wrote steers no terminal and begins no line of a head. */
export function noticeOf(about: Notice["about"], to: string[], subject: string, lines: readonly string[]): Notice {
  const text = lines.join("\n").replaceAll(/\r\n?/g, "\n").replaceAll(steering, " ").slice(0, longestText);
  return { about, to, subject: subject.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), text };
}

/** Control characters but tab and line feed, and what turns the direction of a line around. */
const steering = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/** Who a mail about a run of a client is from: the client's own address, where it has one. */
export function fromOf(client: Pick<Client, "mailFrom"> | undefined): Pick<Notice, "from"> {
  return client?.mailFrom ? { from: client.mailFrom } : {};
}

export async function senderOf({ clients }: Pick<ServicePorts, "clients">, slug: string | undefined) {
  return fromOf(slug === undefined ? undefined : await clients.get(slug));
}

const noMail = "no mail goes out from here";
const way = "NOVA_MAIL_FROM (an address that SES has verified)";
const sentence = `${noMail} - name a webhook, or deploy with ${way}`;

/** For wishes that were stored when mail was set up, or when nobody asked. */
export const noMailer: Mailer = { send: () => Promise.reject(new Refused(sentence)) };

/** The same of an approval. */
export const unmailed = `${noMail} - deploy with ${way}`;

/** A finding where a definition wants mails and none goes out. */
export function mailFindings(
  { mailer }: Pick<ServicePorts, "mailer">,
  { onFailure }: { onFailure?: OnFailure },
): Finding[] {
  return mailer || !onFailure?.mail ? [] : [finding("NOVA131", "$.on_failure.mail", sentence)];
}

/** Warnings where approvals name addresses that nobody mails: the names in `to` are of use to lists besides. */
export function approvalFindings({ mailer }: Pick<ServicePorts, "mailer">, workflow: Workflow): Finding[] {
  if (mailer) return [];
  const asking = Array.from(nodeIndex(workflow).values(), ({ node }) => node).filter(
    (node) => node.type === "approval" && node.to.some(isMailAddress),
  );
  if (asking.length === 0) return [];
  const what = `nobody in "to" of ${asking.map(({ id }) => `"${id}"`).join(", ")} gets a mail`;
  return [
    finding("NOVA133", "$.nodes", `${what}: ${noMail} - deploy with ${way}, or have a rule take execution.waiting`),
  ];
}

/** Throws `Refused` where a client wants mails and none goes out. */
export function demandMail({ mailer }: Pick<ServicePorts, "mailer">, onFailure: OnFailure | undefined): void {
  if (!mailer && onFailure?.mail) throw new Refused(`on_failure.mail: ${sentence}`);
}
