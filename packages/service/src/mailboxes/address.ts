import type { ImapTrigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { MailboxAddress } from "../ports/mail.ts";
import type { Pause } from "../ports/triggers.ts";
import { catchUnusable } from "../triggers/key.ts";

/** The mailbox does not answer, refuses the login, or has no such folder; the message says which. */
export class MailboxUnreachable extends Error {
  override name = "MailboxUnreachable";
}

/** The address and login of a trigger's mailbox, from the client's credential. Throws `MailboxUnreachable`. */
export async function mailboxAddress(
  { credentials }: ServicePorts,
  workflow: string,
  { client, credential, mailbox }: ImapTrigger,
): Promise<MailboxAddress> {
  const unreachable = catchUnusable((cause) => Promise.reject(new MailboxUnreachable(cause.message, { cause })));
  const { members } = await credentials.forNode(client, workflow, [credential]).catch(unreachable);
  const values = new Map(members.map(({ key, json }) => [key, JSON.parse(json) as unknown]));
  const [host, port, user, password] = ["imap_host", "imap_port", "email_user", "email_password"].map((name) =>
    values.get(name),
  );
  if (typeof host === "string" && typeof port === "number" && typeof user === "string" && typeof password === "string")
    return { host, port, user, password, mailbox };
  throw new MailboxUnreachable(
    `credential "${credential}" of client "${client}" names no mailbox - store one of the kind email with imap_host`,
  );
}

const longestSeconds = 6 * 60 * 60;

/** The pause after `failures` in a row: none after the first, then doubled each time, at most six hours. */
export function pauseAfter(failures: number, everySeconds: number, nowMs: number): Pause {
  const seconds = failures <= 1 ? 0 : Math.min(longestSeconds, everySeconds * 2 ** (failures - 1));
  return { failures, until: new Date(nowMs + seconds * 1000).toISOString() };
}

export function isPaused(pause: Pause | undefined, nowMs: number): boolean {
  return pause !== undefined && Date.parse(pause.until) > nowMs;
}
