import type { z } from "zod";
import type { TriggerType } from "../../trigger.ts";
import { eventTrigger } from "./event.ts";
import type { TriggerKind } from "./kind.ts";
import { imapTrigger, mailTrigger } from "./mail.ts";
import { scheduleTrigger } from "./schedule.ts";
import { webhookTrigger } from "./webhook.ts";

export type AuthoredTrigger = z.input<(typeof triggerKinds)[TriggerType]["schema"]>;

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
