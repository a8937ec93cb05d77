import { z } from "zod";
import type { Finding, FindingCode, WrittenPlace } from "../../findings/finding.ts";
import type { WrittenJson } from "../../json/exact.ts";
import type { Trigger } from "../../workflow.ts";
import { duration, textMatching } from "../fields.ts";

/** A kind of trigger. A new kind is a file that exports one of these, and a line in `triggerKinds`. */
export interface TriggerKind<Schema extends z.ZodObject = z.ZodObject> {
  schema: Schema;
  codes: Partial<Record<string, FindingCode>>;
  normalise(authored: z.output<Schema>, id: string, exactly: (field: string) => WrittenJson): Trigger;
  check?(written: Record<string, unknown>, place: WrittenPlace): Iterable<Finding>;
}

const nameError = "must be 1 to 63 lower case letters, digits or -, and begin with a letter or a digit";
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const plainName = (description: string) => textMatching(namePattern, nameError).describe(description);

const slugError = "must be the slug of a client: lower case letters, digits and -";

export const clientSlug = (description: string) => textMatching(namePattern, slugError).describe(description);

export const triggerFields = {
  id: plainName(
    "Its name in schedules, rules and lists of deliveries. Absent: its type and a number, `mail-1`.",
  ).optional(),
};

export const clientField = {
  client: clientSlug(
    "Slug of the client that its runs belong to. Absent: the one that is called `default`.",
  ).optional(),
};

const senderError = "must be an address such as anna@example.com, or @example.com for all of a domain";

const Sender = textMatching(/^[^\s@]*@[^\s@]+$/, senderError).transform((sender) => sender.toLowerCase());
export const Senders = z
  .array(Sender, { error: 'must be a list such as ["anna@example.com", "@example.org"]' })
  .min(1, { error: "must name a sender, or be left out" })
  .describe(
    "Allowed senders: addresses, or `@example.com` for all of a domain. Others are refused. Absent: all senders.",
  );

const minutesError = "must be whole minutes, such as 5m, 2h, 1d, at most a year";

/** Builds the schema of a duration in whole minutes, because EventBridge Scheduler counts in minutes. */
export const wholeMinutes = (description: string) =>
  duration(description).refine((seconds) => seconds % 60 === 0, { error: minutesError });
