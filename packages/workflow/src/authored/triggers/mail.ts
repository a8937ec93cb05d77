import { z } from "zod";
import { defined } from "../../defined.ts";
import { CredentialName, filledText } from "../fields.ts";
import { clientSlug, plainName, Senders, type TriggerKind, triggerFields, wholeMinutes } from "./kind.ts";

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
