import { z } from "zod";
import { filledText } from "../fields.ts";
import { optional } from "../normalised.ts";
import { checkSchedule } from "./check-schedule.ts";
import { clientField, triggerFields, wholeMinutes } from "./fields.ts";
import type { TriggerKind } from "./kind.ts";

export const AuthoredScheduleTrigger = z
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
      .describe("What its runs start with, besides `schedule`.")
      .optional(),
    ...clientField,
  })
  .describe("A time: exactly one of `cron`, `every` and `at`.");
export type AuthoredScheduleTrigger = z.input<typeof AuthoredScheduleTrigger>;
type Written = z.output<typeof AuthoredScheduleTrigger>;

export const scheduleTrigger: TriggerKind<typeof AuthoredScheduleTrigger> = {
  type: "schedule",
  schema: AuthoredScheduleTrigger,
  codes: { cron: "NOVA123", every: "NOVA123", at: "NOVA123", timezone: "NOVA124" },
  normalise: (authored, id, exactly) => ({
    type: "schedule",
    id,
    ...optional("client", authored.client),
    when: whenOf(authored),
    ...optional("timezone", authored.timezone),
    ...optional("context", authored.context && exactly("context")),
  }),
  check: checkSchedule,
};

/** The checks have seen that one of them is there. */
function whenOf({ cron, every, at = "" }: Written) {
  if (cron !== undefined) return { kind: "cron" as const, cron: cron.trim().replaceAll(/\s+/g, " ").toUpperCase() };
  if (every !== undefined) return { kind: "every" as const, everySeconds: every };
  return { kind: "at" as const, at: /T\d\d:\d\d$/.test(at) ? `${at}:00` : at };
}
