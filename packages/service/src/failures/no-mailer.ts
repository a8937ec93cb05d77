import { type Finding, finding, type OnFailure } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Mailer } from "../ports/notices.ts";

const sentence =
  "no mail goes out from here - name a webhook, or deploy with NOVA_MAIL_FROM (an address that SES has verified)";

/** For wishes that were stored when mail was set up, or when nobody asked. */
export const noMailer: Mailer = { send: () => Promise.reject(new Refused(sentence)) };

/** A finding where a definition wants mails and none goes out. */
export function mailFindings(
  { mailer }: Pick<ServicePorts, "mailer">,
  { onFailure }: { onFailure?: OnFailure },
): Finding[] {
  return mailer || !onFailure?.mail ? [] : [finding("NOVA131", "$.on_failure.mail", sentence)];
}

/** Throws `Refused` where a client wants mails and none goes out. */
export function demandMail({ mailer }: Pick<ServicePorts, "mailer">, onFailure: OnFailure | undefined): void {
  if (!mailer && onFailure?.mail) throw new Refused(`on_failure.mail: ${sentence}`);
}
