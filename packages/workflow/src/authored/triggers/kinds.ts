import type { TriggerType } from "../../trigger.ts";
import { type AuthoredEventTrigger, eventTrigger } from "./event.ts";
import type { TriggerKind } from "./kind.ts";
import { type AuthoredImapTrigger, type AuthoredMailTrigger, imapTrigger, mailTrigger } from "./mail.ts";
import { type AuthoredScheduleTrigger, scheduleTrigger } from "./schedule.ts";
import { type AuthoredWebhookTrigger, webhookTrigger } from "./webhook.ts";

export type AuthoredTrigger =
  | AuthoredMailTrigger
  | AuthoredImapTrigger
  | AuthoredWebhookTrigger
  | AuthoredScheduleTrigger
  | AuthoredEventTrigger;

export const triggerKinds = {
  mail: mailTrigger,
  imap: imapTrigger,
  webhook: webhookTrigger,
  schedule: scheduleTrigger,
  event: eventTrigger,
} as const satisfies Record<TriggerType, unknown>;

export const triggerTypes = Object.keys(triggerKinds);

export function triggerKindOf(type: unknown): TriggerKind | undefined {
  const isKnown = typeof type === "string" && Object.hasOwn(triggerKinds, type);
  return isKnown ? (triggerKinds[type as TriggerType] as unknown as TriggerKind) : undefined;
}
