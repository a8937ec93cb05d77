import { z } from "zod";
import { CredentialName } from "../credentials.ts";
import { filledText } from "../fields.ts";
import { optional } from "../normalised.ts";
import { clientSlug, Senders, triggerFields, wholeMinutes } from "./fields.ts";
import type { TriggerKind } from "./kind.ts";

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
export type AuthoredImapTrigger = z.input<typeof AuthoredImapTrigger>;

export const imapTrigger: TriggerKind<typeof AuthoredImapTrigger> = {
  type: "imap",
  schema: AuthoredImapTrigger,
  codes: { from: "NOVA122", every: "NOVA123" },
  normalise: ({ client, credential, mailbox, every, from }, id) => ({
    type: "imap",
    id,
    client,
    credential,
    mailbox,
    everySeconds: every,
    ...optional("from", from),
  }),
};
