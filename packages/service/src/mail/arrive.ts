import type { ImapTrigger, MailTrigger } from "@nova/workflow";
import type { Delivery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import { describeTrigger, type FoundTrigger, recordRefusedDelivery, startFromTrigger } from "../triggers/start.ts";
import { guardProblem } from "./guard.ts";
import { identifyMail, type RawMail, senderProblem } from "./headers.ts";
import { mailContext, parseMail } from "./parse-mail.ts";

/** Starts one run for a mail, or records why it is refused. A repeated mail starts no second run. */
export async function startFromMail(
  ports: ServicePorts,
  place: FoundTrigger<MailTrigger | ImapTrigger>,
  mail: RawMail,
): Promise<Delivery> {
  const { messageId, ...head } = identifyMail(mail);
  const known = { ...describeTrigger(place), ...head };
  const refuse = (reason: string) => recordRefusedDelivery(ports, known, reason);
  const refused = senderProblem(mail.headers, place.trigger.from) ?? guardProblem(mail.raw);
  if (refused !== undefined) return refuse(refused);
  const parsed = await parseMail(mail.raw).catch((error: unknown) => {
    return { reason: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  });
  if ("reason" in parsed) return refuse(parsed.reason);
  // Code must read the sender that was checked.
  if (head.from !== "" && head.from !== parsed.from) return refuse("its sender can be read in two ways");
  const { context, files } = mailContext(parsed, messageId);
  return startFromTrigger(ports, { ...known, about: parsed.subject, context, files });
}
