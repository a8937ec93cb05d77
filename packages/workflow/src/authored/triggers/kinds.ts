import { z } from "zod";
import { defined } from "../../defined.ts";
import { checkPattern } from "../../event-pattern/pattern.ts";
import { at, type Finding, finding, type WrittenPlace } from "../../findings/finding.ts";
import { isObject, type JsonObject } from "../../json/exact.ts";
import { dotPathPattern } from "../../template/template.ts";
import type { TriggerType, WebhookSignature } from "../../workflow.ts";
import { CredentialName, duration, eventPattern, filledText, seconds, text, textMatching } from "../fields.ts";
import { clientField, clientSlug, plainName, Senders, type TriggerKind, triggerFields, wholeMinutes } from "./kind.ts";
import { scheduleTrigger } from "./schedule.ts";

const headerError = "must be the name of an HTTP header";
const dedupeError = "must be headers. and the name of a header, or body. and a dot path: headers.x-delivery, body.id";

const Signature = z.strictObject(
  {
    header: textMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, headerError)
      .transform((header) => header.toLowerCase())
      .describe("The header that carries the HMAC of the body, in hex or base64."),
    secret: CredentialName.describe("Name of the credential that holds the key."),
    algorithm: z
      .enum(["sha1", "sha256", "sha512"], { error: "must be sha1, sha256 or sha512" })
      .describe("How the digest is made.")
      .prefault("sha256"),
    prefix: text("Text before the digest: `sha256=`.").optional(),
    tolerance: duration(
      "For a header such as Stripe's, `t=1492774577,v1=<digest>`, whose digest is of the time, a dot and the body: how old a request may be. `prefix` is `v1=` where absent.",
    ).optional(),
  },
  { error: 'must be an object such as { "header": "x-signature", "secret": "stripe" }' },
);

export const AuthoredWebhookTrigger = z
  .strictObject({
    id: plainName("The last part of its address, `/hooks/<id>`. No other workflow may have it."),
    type: z.literal("webhook").describe("A request arrives."),
    signature: Signature.describe(
      "How the sender signs: `header` carries the HMAC of the body in hex or base64, made with the key in the credential `secret`; `algorithm` is `sha256` where absent, `prefix` is the text before the digest. Absent: anyone who knows the address may call it.",
    ).optional(),
    dedupe: z
      .string({ error: dedupeError })
      .refine((path) => /^(headers|body)\../.test(path) && dotPathPattern.test(path), { error: dedupeError })
      .describe(
        "The id of the delivery in a request, so that a repeated delivery starts no second run: `headers.x-delivery`, `body.id`. The body counts instead if the id is missing or empty, or if it is a header of a signed request, because signatures do not cover headers.",
      )
      .optional(),
    wait: seconds(
      { min: 1, max: 25, integer: true },
      "How many seconds the request waits for the end of the run and its result. Absent: it is answered at once.",
    ).optional(),
    ...clientField,
  })
  .describe("A request `POST /hooks/<id>`, with the sender's signature.");

export const webhookTrigger: TriggerKind<typeof AuthoredWebhookTrigger> = {
  schema: AuthoredWebhookTrigger,
  codes: {},
  normalise: ({ signature, dedupe, wait, ...same }, id) =>
    defined({
      ...same,
      id,
      signature: signature && signatureOf(signature),
      dedupe: dedupe?.startsWith("headers.") ? dedupe.toLowerCase() : dedupe,
      waitSeconds: wait,
    }),
};

function signatureOf({ tolerance, ...same }: z.output<typeof Signature>): WebhookSignature {
  return defined({ ...same, toleranceSeconds: tolerance });
}

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
