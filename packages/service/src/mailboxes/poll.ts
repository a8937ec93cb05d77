import type { ImapTrigger } from "@nova/workflow";
import { startFromMail } from "../mail/arrive.ts";
import { largestMailBytes, tooLargeReason } from "../mail/guard.ts";
import { identifyMail, longestHeadBytes, readHeaders } from "../mail/headers.ts";
import type { Delivery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { OpenMailbox, UnreadMail } from "../ports/mail.ts";
import type { TriggerName } from "../ports/triggers.ts";
import { ownKey } from "../triggers/key.ts";
import { describeTrigger, type FoundTrigger, recordRefusedDelivery } from "../triggers/start.ts";
import { isPaused, MailboxUnreachable, mailboxAddress, pauseAfter } from "./address.ts";

/** Mails of one poll; the next poll continues with the others. */
const maxMails = 50;

/**
 * Starts a run for each unread mail of a trigger's mailbox, oldest first, and marks each as read once its run was
 * accepted or refused. A mailbox that cannot be read is recorded with the reason, and polled less and less often.
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
