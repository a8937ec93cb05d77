import { z } from "zod";
import { optional } from "../normalised.ts";
import { clientSlug, plainName, Senders, triggerFields } from "./fields.ts";
import type { TriggerKind } from "./kind.ts";

export const AuthoredMailTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("mail").describe("A mail comes in."),
    address: plainName(
      "What stands in front of the `@`: a mail to `invoices+acme@in.example.com` is for the trigger `invoices` and the client `acme`. No other workflow may have it.",
    ),
    from: Senders.optional(),
    client: clientSlug(
      "Slug of the one client whose mails it takes; of mails that name none, too. Absent: any client, and `default` where a mail names none.",
    ).optional(),
  })
  .describe("A mail to `<address>+<client>@` the domain that NOVA takes mail for; see [mail](mail.md).");
export type AuthoredMailTrigger = z.input<typeof AuthoredMailTrigger>;

export const mailTrigger: TriggerKind<typeof AuthoredMailTrigger> = {
  type: "mail",
  schema: AuthoredMailTrigger,
  codes: { address: "NOVA122", from: "NOVA122" },
  normalise: ({ address, from, client }, id) => ({
    type: "mail",
    id,
    ...optional("client", client),
    address,
    ...optional("from", from),
  }),
};
