import { z } from "zod";
import { defined } from "../../defined.ts";
import { checkPattern } from "../../event-pattern/pattern.ts";
import { at, type Finding, finding, type WrittenPlace } from "../../findings/finding.ts";
import { isObject, type JsonObject } from "../../json/exact.ts";
import type { TriggerType } from "../../workflow.ts";
import { CredentialName, eventPattern, filledText } from "../fields.ts";
import { clientField, clientSlug, plainName, Senders, type TriggerKind, triggerFields, wholeMinutes } from "./kind.ts";
import { scheduleTrigger } from "./schedule.ts";
import { webhookTrigger } from "./webhook.ts";

export const AuthoredEventTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("event").describe("An event fits."),
    pattern: eventPattern("The EventBridge event pattern that an event has to fit, as in [waits](#waits)."),
    bus: z
      .enum(["nova", "default"], { error: 'must be "nova" or "default"' })
      .describe("NOVA's own bus, or the default one of the account, where AWS's own events are.")
      .prefault("nova"),
    ...clientField,
  })
  .describe("An event on a bus of EventBridge.");

export const eventTrigger: TriggerKind<typeof AuthoredEventTrigger> = {
  schema: AuthoredEventTrigger,
  codes: { pattern: "NOVA125" },
  normalise: (same, id, exactly) => defined({ ...same, id, pattern: exactly("pattern") }),
  check: checkEventPattern,
};

function* checkEventPattern({ pattern }: Record<string, unknown>, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(pattern)) return;
  for (const { segments, message } of checkPattern(pattern as JsonObject)) {
    yield finding("NOVA125", at(path, "pattern", ...segments), `${name}: the event pattern ${message}`);
  }
}

export const AuthoredMailTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("mail").describe("A mail comes in."),
    address: plainName(
      "The part before the `@`: a mail to `invoices+acme@in.example.com` is for the trigger `invoices` and the client `acme`. No other workflow may have it.",
    ),
    from: Senders.optional(),
    client: clientSlug(
      "Slug of the one client whose mails it takes; also for mails that name none. Absent: any client, and `default` where a mail names none.",
    ).optional(),
  })
  .describe("A mail to `<address>+<client>@` the domain that NOVA takes mail for; see [mail](mail.md).");

export const mailTrigger: TriggerKind<typeof AuthoredMailTrigger> = {
  schema: AuthoredMailTrigger,
  codes: { address: "NOVA122", from: "NOVA122" },
  normalise: (same, id) => defined({ ...same, id }),
};

export const AuthoredImapTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("imap").describe("A mail lies unread in a mailbox."),
    client: clientSlug("Slug of the client whose mailbox it is; its runs belong to it."),
    credential: CredentialName.describe("Name of the client's credential of the kind `email`.").prefault("email"),
    mailbox: filledText("Folder of the mailbox.").prefault("INBOX"),
    every: wholeMinutes("How often it is looked at: whole minutes, as seconds or as `5m`, `2h`.").prefault("5m"),
    from: Senders.optional(),
  })
  .describe("Unread mails in a client's mailbox, in their order; each is marked as read once its run was accepted.");

export const imapTrigger: TriggerKind<typeof AuthoredImapTrigger> = {
  schema: AuthoredImapTrigger,
  codes: { from: "NOVA122", every: "NOVA123" },
  normalise: ({ every, ...same }, id) => defined({ ...same, id, everySeconds: every }),
};

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
