import {
  type Finding,
  finding,
  isMailAddress,
  isNamedPerson,
  nodeIndex,
  type OnFailure,
  type Workflow,
} from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Client } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Mailer, Notice } from "../ports/triggers.ts";

/** Maximum length of the text of a mail, in characters. The message of an approval has at most 4,000. */
const longestText = 20_000;

/**
 * Builds a mail. It replaces control characters: text from outside NOVA must not control a terminal, or add a header
 * line.
 */
export function buildNotice(about: Notice["about"], to: string[], subject: string, lines: readonly string[]): Notice {
  const text = lines.join("\n").replaceAll(/\r\n?/g, "\n").replaceAll(controlCharacters, " ").slice(0, longestText);
  return { about, to, subject: subject.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), text };
}

/** Control characters except tab and line feed, and characters that reverse the text direction. */
const controlCharacters = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/** Returns the sender of a mail about a client's run: the client's own address, if it has one. */
export function senderFields(client: Pick<Client, "mailFrom"> | undefined): Pick<Notice, "from"> {
  return client?.mailFrom ? { from: client.mailFrom } : {};
}

export async function readSender({ clients }: Pick<ServicePorts, "clients">, slug: string | undefined) {
  return senderFields(slug === undefined ? undefined : await clients.get(slug));
}

const noMail = "NOVA sends no mail, because it has no sender address";
const mailSetup = "NOVA_MAIL_FROM (an address that SES has verified)";
const noMailSentence = `${noMail} - name a webhook, or deploy with ${mailSetup}`;

/**
 * Refuses every mail. Workflows and clients may still ask for mails after the operator has removed the sender address.
 */
export const noMailer: Mailer = { send: () => Promise.reject(new Refused(noMailSentence)) };

/** The reason why an approval sends no mail. */
export const noMailReason = `${noMail} - deploy with ${mailSetup}`;

export function mailFindings({ mailer }: Pick<ServicePorts, "mailer">, { onFailure }: { onFailure?: OnFailure }) {
  return mailer || !onFailure?.mail ? [] : [finding("NOVA131", "$.on_failure.mail", noMailSentence)];
}

/**
 * Returns warnings if approvals name mail addresses and no mailer is configured. The names in `to` still appear in task
 * lists.
 */
export function approvalFindings({ mailer }: Pick<ServicePorts, "mailer">, workflow: Workflow): Finding[] {
  if (mailer) return [];
  const asking = Array.from(nodeIndex(workflow).values(), ({ node }) => node).filter(
    (node) =>
      node.type === "approval" &&
      [...node.to, ...(node.approvers?.any.filter(isNamedPerson) ?? [])].some(isMailAddress),
  );
  if (asking.length === 0) return [];
  const what = `the mail addresses of ${asking.map(({ id }) => `"${id}"`).join(", ")} get no mail`;
  const wayOut = `deploy with ${mailSetup}, or let a rule of EventBridge handle execution.waiting`;
  return [finding("NOVA133", "$.nodes", `${what}: ${noMail} - ${wayOut}`)];
}

/** Throws `Refused` if a client wants mails and no mailer is configured. */
export function demandMail({ mailer }: Pick<ServicePorts, "mailer">, onFailure: OnFailure | undefined): void {
  if (!mailer && onFailure?.mail) throw new Refused(`on_failure.mail: ${noMailSentence}`);
}
