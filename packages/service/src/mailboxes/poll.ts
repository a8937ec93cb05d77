import type { ImapTrigger } from "@nova/workflow";
import { largestMailBytes, tooLargeReason } from "../mail/guard.ts";
import { identifyMail, longestHeadBytes, readHeaders } from "../mail/headers.ts";
import { startFromMail } from "../mail/receive.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Delivery, MailboxAddress, OpenMailbox, Pause, TriggerName, UnreadMail } from "../ports/triggers.ts";
import { describeTrigger, type FoundTrigger, recordRefusedDelivery } from "../triggers/start.ts";
import { catchUnusable, ownKey } from "../triggers/sync.ts";

/** Maximum number of mails that one poll reads; the next poll continues with the remaining mails. */
const maxMails = 50;

/**
 * Starts a run for each unread mail of a trigger's mailbox, oldest first. It marks a mail as read after the run of the
 * mail was accepted or refused. If the mailbox cannot be read, the function records the reason, and pauses the mailbox
 * for longer after each failure in a row.
 */
export async function pollMailbox(ports: ServicePorts, name: TriggerName, signal?: AbortSignal): Promise<Delivery[]> {
  const live = await ports.triggers.get(ownKey(name.workflow, name.trigger));
  const now = ports.clock.now();
  if (live?.trigger.type !== "imap" || isPaused(live.pause, now)) return [];
  const place = { workflow: name.workflow, trigger: live.trigger, client: live.trigger.client };
  try {
    const deliveries = await readMailbox(ports, place, signal);
    if (live.pause) await ports.triggers.pause(live, undefined);
    return deliveries;
  } catch (error) {
    if (!(error instanceof MailboxUnreachable)) throw error;
    await ports.triggers.pause(live, pauseAfter((live.pause?.failures ?? 0) + 1, live.trigger.everySeconds, now));
    const head = { dedupe: `poll ${new Date(now).toISOString()}`, from: "", about: live.trigger.mailbox };
    return [await recordRefusedDelivery(ports, { ...describeTrigger(place), ...head }, error.message, "failed")];
  }
}

type ImapPlace = FoundTrigger<ImapTrigger>;

async function readMailbox(ports: ServicePorts, place: ImapPlace, signal?: AbortSignal): Promise<Delivery[]> {
  const mailbox = await ports.mail.mailboxes.open(await mailboxAddress(ports, place.workflow, place.trigger));
  const deliveries: Delivery[] = [];
  try {
    for (const mail of await mailbox.unread(maxMails)) {
      if (signal?.aborted) break;
      deliveries.push(await takeMail(ports, place, mailbox, mail));
    }
  } finally {
    await mailbox.close();
  }
  return deliveries;
}

async function takeMail(ports: ServicePorts, place: ImapPlace, mailbox: OpenMailbox, mail: UnreadMail) {
  const isTooLarge = mail.bytes > largestMailBytes;
  const raw = await mail.read(isTooLarge ? longestHeadBytes : largestMailBytes);
  const headers = readHeaders(raw) ?? [];
  const { messageId: _, ...head } = identifyMail({ raw, headers });
  const known = { ...describeTrigger(place), ...head };
  const delivery = isTooLarge
    ? await recordRefusedDelivery(ports, known, tooLargeReason(mail.bytes))
    : await startFromMail(ports, place, { raw, headers });
  await mailbox.markRead(mail.uid);
  return delivery;
}

/** The mailbox does not answer, refuses the login, or has no such folder; the message says which. */
export class MailboxUnreachable extends Error {
  override name = "MailboxUnreachable";
}

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

/**
 * Returns the pause of a mailbox after this number of failures in a row. The first failure causes no pause. Later
 * pauses double each time, up to six hours.
 */
export function pauseAfter(failures: number, everySeconds: number, nowMs: number): Pause {
  const seconds = failures <= 1 ? 0 : Math.min(longestSeconds, everySeconds * 2 ** (failures - 1));
  return { failures, until: new Date(nowMs + seconds * 1000).toISOString() };
}

export function isPaused(pause: Pause | undefined, nowMs: number): boolean {
  return pause !== undefined && Date.parse(pause.until) > nowMs;
}
