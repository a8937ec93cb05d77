import type { FindingKind } from "./kind.ts";

/** NOVA120 and behind: what starts runs from outside. */
export const triggerFindings = {
  NOVA120: {
    severity: "error",
    title: "A trigger has an unknown type",
    why: "The types are `mail`, `imap`, `webhook`, `schedule` and `event`.",
    bad: '"triggers": [{ "type": "email", "address": "invoices" }]',
    good: '"triggers": [{ "type": "mail", "address": "invoices" }]',
  },
  NOVA121: {
    severity: "error",
    title: "Triggers cannot be told apart",
    why: "A trigger is known by its id (lower case letters, digits and `-`), in schedules, rules and lists of deliveries; a mail finds its trigger by the address. Where no id is written, it is the type and a number: `mail-1`.",
    bad: '"triggers": [{ "id": "Nightly run", "type": "schedule", "every": "1d" }]',
    good: '"triggers": [{ "id": "nightly-run", "type": "schedule", "every": "1d" }]',
  },
  NOVA122: {
    severity: "error",
    title: "An address of a mail trigger is malformed",
    why: "`address` is what stands in front of the `@`: lower case letters, digits and `-`, without the `+client` that a sender may add. `from` lists addresses, or `@example.com` for all of a domain.",
    bad: '"triggers": [{ "type": "mail", "address": "Invoices@in.example.com" }]',
    good: '"triggers": [{ "type": "mail", "address": "invoices" }]',
  },
  NOVA123: {
    severity: "error",
    title: "It is not clear when a schedule is due",
    why: "Exactly one of `cron` (EventBridge's six fields: minute, hour, day of the month, month, day of the week, year; one of the two days is `?`), `every` (whole minutes) and `at` (a time without a zone).",
    bad: '"triggers": [{ "type": "schedule", "cron": "0 9 * * 1-5" }]',
    good: '"triggers": [{ "type": "schedule", "cron": "0 9 ? * MON-FRI *" }]',
  },
  NOVA124: {
    severity: "error",
    title: "A time zone is not known",
    why: "Time zones have the names of the IANA list. An offset such as `+01:00` would not know of summer time.",
    bad: '"triggers": [{ "type": "schedule", "cron": "0 9 * * ? *", "timezone": "CEST" }]',
    good: '"triggers": [{ "type": "schedule", "cron": "0 9 * * ? *", "timezone": "Europe/Madrid" }]',
  },
  NOVA125: {
    severity: "error",
    title: "The pattern of an event trigger cannot fit any event",
    why: "As in EventBridge, and as NOVA415 says of a wait.",
    bad: '"triggers": [{ "type": "event", "pattern": { "source": "shop" } }]',
    good: '"triggers": [{ "type": "event", "pattern": { "source": ["shop"] } }]',
  },
  NOVA126: {
    severity: "error",
    title: "A trigger names no client",
    why: "A client is named by its slug: lower case letters, digits and `-`.",
    bad: '"triggers": [{ "type": "imap", "client": "Acme Ltd." }]',
    good: '"triggers": [{ "type": "imap", "client": "acme" }]',
  },
  NOVA127: {
    severity: "error",
    title: "Another workflow has this address",
    why: "A mail or a request finds its workflow by the address of the mail trigger, or by the id of the webhook. One of the two has to give way: this one takes another address, or the other workflow is deleted (`DELETE /workflows/<id>`). Found when the workflow is published.",
    bad: '"triggers": [{ "type": "mail", "address": "invoices" }]   # in two workflows',
    good: '"triggers": [{ "type": "mail", "address": "invoices-spain" }]',
  },
  NOVA128: {
    severity: "warning",
    title: "A trigger names a client that is not there",
    why: "What comes in for a client that does not exist starts nothing and is recorded as refused. Found when the workflow is published; the client may be made afterwards.",
    bad: '"triggers": [{ "type": "imap", "client": "acmee" }]   # nobody made this client',
    good: '"triggers": [{ "type": "imap", "client": "acme" }]',
  },
  NOVA129: {
    severity: "warning",
    title: "The time of a schedule is over",
    why: "A schedule with `at` is due once, and this one was due before: nobody can say whether it still starts a run. Found by the clock of whoever validates; a version that is published stays as it is.",
    bad: '"triggers": [{ "type": "schedule", "at": "2020-01-31T09:00" }]',
    good: '"triggers": [{ "type": "schedule", "at": "2090-01-31T09:00" }]',
  },
  NOVA130: {
    severity: "error",
    title: "A trigger is too long",
    why: "A trigger has at most 250,000 bytes as JSON, its `context` among them: it is one item of a table.",
    bad: '"triggers": [{ "type": "schedule", "every": "1d", "context": { "prices": [ ... 300,000 bytes ... ] } }]',
    good: '"triggers": [{ "type": "schedule", "every": "1d" }]   # and prices.txt in the folder',
  },
  NOVA132: {
    severity: "warning",
    title: "A signed request has its id in a header",
    why: "Signatures are over the body, and over no header: whoever has seen a signed request once could send it again under another id. So the same body is the same delivery, and starts no second run.",
    bad: '"triggers": [{ "type": "webhook", "id": "gh", "signature": { "header": "x-hub-signature-256", "secret": "gh" }, "dedupe": "headers.x-github-delivery" }]',
    good: '"triggers": [{ "type": "webhook", "id": "gh", "signature": { "header": "x-hub-signature-256", "secret": "gh" }, "dedupe": "body.id" }]',
  },
} as const satisfies Record<string, FindingKind>;
