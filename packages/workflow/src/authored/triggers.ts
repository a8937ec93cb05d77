import { z } from "zod";
import { defined } from "../defined.ts";
import { checkPattern } from "../event-pattern/pattern.ts";
import type { Finding, FindingCode, WrittenPlace } from "../findings/finding.ts";
import { at, checkOneOf, finding, formatValue } from "../findings/finding.ts";
import { isObject, type JsonObject, type Loose, type WrittenJson } from "../json/exact.ts";
import { cronProblem, dueAfter, isLocalTime, isTimeZone, parseExpression } from "../schedule/expression.ts";
import { dotPathPattern } from "../template/template.ts";
import type { Trigger, TriggerType, WebhookSignature } from "../workflow.ts";
import { CredentialName, duration, eventPattern, filledText, seconds, text, textMatching } from "./fields.ts";

/** A kind of trigger. To add one, write a `TriggerKind` and list it in `triggerKinds`. */
interface TriggerKind<Schema extends z.ZodObject = z.ZodObject> {
  schema: Schema;
  codes: Partial<Record<string, FindingCode>>;
  normalise(authored: z.output<Schema>, id: string, exactly: (field: string) => WrittenJson): Trigger;
  check?(written: Loose, place: WrittenPlace): Iterable<Finding>;
}

const nameError = "must be 1 to 63 lower case letters, digits or -, and begin with a letter or a digit";
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

const plainName = (description: string) => textMatching(namePattern, nameError).describe(description);

const slugError = "must be the slug of a client: lower case letters, digits and -";

const clientSlug = (description: string) => textMatching(namePattern, slugError).describe(description);

const triggerFields = {
  id: plainName(
    "Its name in schedules, rules and lists of deliveries. Absent: its type and a number, `mail-1`.",
  ).optional(),
};

const clientField = {
  client: clientSlug(
    "Slug of the client that its runs belong to. Absent: the one that is called `default`.",
  ).optional(),
};

const senderError = "must be an address such as anna@example.com, or @example.com for all of a domain";

const Sender = textMatching(/^[^\s@]*@[^\s@]+$/, senderError).transform((sender) => sender.toLowerCase());
const Senders = z
  .array(Sender, { error: 'must be a list such as ["anna@example.com", "@example.org"]' })
  .min(1, { error: "must name a sender, or be left out" })
  .describe(
    "Allowed senders: addresses, or `@example.com` for all of a domain. Others are refused. Absent: all senders.",
  );

const minutesError = "must be whole minutes, such as 5m, 2h, 1d, at most a year";

/** Builds the schema of a duration in whole minutes, because EventBridge Scheduler counts in minutes. */
const wholeMinutes = (description: string) =>
  duration(description).refine((seconds) => seconds % 60 === 0, { error: minutesError });

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

const AuthoredWebhookTrigger = z
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

const webhookTrigger: TriggerKind<typeof AuthoredWebhookTrigger> = {
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

const AuthoredEventTrigger = z
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

const eventTrigger: TriggerKind<typeof AuthoredEventTrigger> = {
  schema: AuthoredEventTrigger,
  codes: { pattern: "NOVA125" },
  normalise: (same, id, exactly) => defined({ ...same, id, pattern: exactly("pattern") }),
  check: checkEventPattern,
};

function* checkEventPattern({ pattern }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(pattern)) return;
  for (const { segments, message } of checkPattern(pattern as JsonObject)) {
    yield finding("NOVA125", at(path, "pattern", ...segments), `${name}: the event pattern ${message}`);
  }
}

const AuthoredMailTrigger = z
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

const mailTrigger: TriggerKind<typeof AuthoredMailTrigger> = {
  schema: AuthoredMailTrigger,
  codes: { address: "NOVA122", from: "NOVA122" },
  normalise: (same, id) => defined({ ...same, id }),
};

const AuthoredImapTrigger = z
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

const imapTrigger: TriggerKind<typeof AuthoredImapTrigger> = {
  schema: AuthoredImapTrigger,
  codes: { from: "NOVA122", every: "NOVA123" },
  normalise: ({ every, ...same }, id) => defined({ ...same, id, everySeconds: every }),
};

const AuthoredScheduleTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("schedule").describe("It is time."),
    cron: filledText(
      "When, as EventBridge has it: minute, hour, day of the month, month, day of the week, year. `0 9 ? * MON-FRI *` is 9:00 on working days.",
    ).optional(),
    every: wholeMinutes("How often: whole minutes, as seconds or as `15m`, `12h`, `1d`.").optional(),
    at: filledText("Once: a time of the time zone, `2026-01-31T09:00`.").optional(),
    timezone: filledText("With `cron` and `at`: the time zone's name, `Europe/Madrid`. Absent: UTC.").optional(),
    context: z
      .record(z.string(), z.json(), { error: "must be an object of the keys that a run starts with" })
      .describe("Initial context of its runs, in addition to `schedule`.")
      .optional(),
    ...clientField,
  })
  .describe("A time: exactly one of `cron`, `every` and `at`.");

const scheduleTrigger: TriggerKind<typeof AuthoredScheduleTrigger> = {
  schema: AuthoredScheduleTrigger,
  codes: { cron: "NOVA123", every: "NOVA123", at: "NOVA123", timezone: "NOVA124" },
  normalise: ({ cron, every, at, context, ...same }, id, exactly) =>
    defined({ ...same, id, when: whenOf({ cron, every, at }), context: context && exactly("context") }),
  check: checkSchedule,
};

/**
 * Returns the time of a schedule, from whichever of `cron`, `every` and `at` is present. The checks ensure that exactly
 * one is.
 */
function whenOf({ cron, every, at = "" }: Pick<z.output<typeof AuthoredScheduleTrigger>, "cron" | "every" | "at">) {
  if (cron !== undefined) return { kind: "cron" as const, cron: cron.trim().replaceAll(/\s+/g, " ").toUpperCase() };
  if (every !== undefined) return { kind: "every" as const, everySeconds: every };
  return { kind: "at" as const, at: /T\d\d:\d\d$/.test(at) ? `${at}:00` : at };
}

function* checkSchedule(written: Loose, place: WrittenPlace): Iterable<Finding> {
  yield* checkOneOf("NOVA123", ["cron", "every", "at"], "when", written, place);
  yield* checkTimes(written, place);
  yield* checkDue(written, place);
  yield* checkZone(written, place);
  yield* checkContext(written, place);
}

function* checkTimes({ cron, at: time }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  const problem = typeof cron === "string" && cron.trim() !== "" ? cronProblem(cron) : undefined;
  if (problem !== undefined) yield finding("NOVA123", at(path, "cron"), `${name}: cron ${problem}`);
  if (typeof time === "string" && time.trim() !== "" && !isLocalTime(time)) {
    const message = `${name}: at is ${formatValue(time)}, which is not a time - write one such as 2026-01-31T09:00, with its zone in timezone`;
    yield finding("NOVA123", at(path, "at"), message);
  }
}

/** Reports a schedule whose time cannot exist. `pastTimes` warns of times that are over. */
function* checkDue({ cron, at: time, timezone = "UTC" }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  if (typeof timezone !== "string" || !isTimeZone(timezone)) return;
  const [field, written] = typeof cron === "string" ? ["cron", cron.trim()] : ["at", String(time)];
  const withSeconds = field === "at" && /T\d\d:\d\d$/.test(written) ? `${written}:00` : written;
  const expression = parseExpression(`${field}(${withSeconds})`, timezone);
  if (expression === undefined || dueAfter(expression, 0, 0) !== undefined) return;
  const message = `${name}: ${field} ${formatValue(written)} is never due: no such time exists in ${timezone} - correct its day, month, year or hour`;
  yield finding("NOVA123", at(path, field), message);
}

/** Reports keys of the schedule's context that would make NOVA refuse every run. */
function* checkContext({ context }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(context)) return;
  for (const key of Object.keys(context).filter((key) => key.startsWith("$"))) {
    const message = `${name}: its context has the key "${key}" - such keys mark NOVA's references: use another name`;
    yield finding("NOVA502", at(path, "context", key), message);
  }
}

function* checkZone({ timezone, every }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  if (timezone === undefined) return;
  if (every !== undefined) {
    yield finding("NOVA124", at(path, "timezone"), `${name}: every needs no time zone - remove timezone`);
  } else if (typeof timezone === "string" && timezone.trim() !== "" && !isTimeZone(timezone)) {
    const message = `${name}: there is no time zone ${formatValue(timezone)} - write its name, such as Europe/Madrid`;
    yield finding("NOVA124", at(path, "timezone"), message);
  }
}

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
