import { z } from "zod";
import { defined } from "../../defined.ts";
import { at, checkOneOf, type Finding, finding, formatValue, type WrittenPlace } from "../../findings/finding.ts";
import { isObject } from "../../json/exact.ts";
import { cronProblem, dueAfter, isLocalTime, isTimeZone, parseExpression } from "../../schedule/expression.ts";
import { filledText } from "../fields.ts";
import { clientField, type TriggerKind, triggerFields, wholeMinutes } from "./kind.ts";

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
      .describe("Initial context of its runs, in addition to `schedule`.")
      .optional(),
    ...clientField,
  })
  .describe("A time: exactly one of `cron`, `every` and `at`.");

export const scheduleTrigger: TriggerKind<typeof AuthoredScheduleTrigger> = {
  schema: AuthoredScheduleTrigger,
  codes: { cron: "NOVA123", every: "NOVA123", at: "NOVA123", timezone: "NOVA124" },
  normalise: ({ cron, every, at, context, ...same }, id, exactly) =>
    defined({ ...same, id, when: whenOf({ cron, every, at }), context: context && exactly("context") }),
  check: checkSchedule,
};

/**
 * Returns the one of `cron`, `every` and `at` that is present. The checks ensure that exactly one of them is present.
 */
function whenOf({ cron, every, at = "" }: Pick<z.output<typeof AuthoredScheduleTrigger>, "cron" | "every" | "at">) {
  if (cron !== undefined) return { kind: "cron" as const, cron: cron.trim().replaceAll(/\s+/g, " ").toUpperCase() };
  if (every !== undefined) return { kind: "every" as const, everySeconds: every };
  return { kind: "at" as const, at: /T\d\d:\d\d$/.test(at) ? `${at}:00` : at };
}

type Written = Record<string, unknown>;

function* checkSchedule(written: Written, place: WrittenPlace): Iterable<Finding> {
  yield* checkOneOf("NOVA123", ["cron", "every", "at"], "when", written, place);
  yield* checkTimes(written, place);
  yield* checkDue(written, place);
  yield* checkZone(written, place);
  yield* checkContext(written, place);
}

function* checkTimes({ cron, at: time }: Written, { name, path }: WrittenPlace): Iterable<Finding> {
  const problem = typeof cron === "string" && cron.trim() !== "" ? cronProblem(cron) : undefined;
  if (problem !== undefined) yield finding("NOVA123", at(path, "cron"), `${name}: cron ${problem}`);
  if (typeof time === "string" && time.trim() !== "" && !isLocalTime(time)) {
    const message = `${name}: at is ${formatValue(time)}, which is not a time - write one such as 2026-01-31T09:00, with its zone in timezone`;
    yield finding("NOVA123", at(path, "at"), message);
  }
}

/** Reports a schedule whose time cannot exist. `pastTimes` warns of times that are over. */
function* checkDue({ cron, at: time, timezone = "UTC" }: Written, { name, path }: WrittenPlace): Iterable<Finding> {
  if (typeof timezone !== "string" || !isTimeZone(timezone)) return;
  const [field, written] = typeof cron === "string" ? ["cron", cron.trim()] : ["at", String(time)];
  const withSeconds = field === "at" && /T\d\d:\d\d$/.test(written) ? `${written}:00` : written;
  const expression = parseExpression(`${field}(${withSeconds})`, timezone);
  if (expression === undefined || dueAfter(expression, 0, 0) !== undefined) return;
  const message = `${name}: ${field} ${formatValue(written)} is never due: no such time exists in ${timezone} - correct its day, month, year or hour`;
  yield finding("NOVA123", at(path, field), message);
}

/** Reports keys of the schedule's context that would make NOVA refuse every run. */
function* checkContext({ context }: Written, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(context)) return;
  for (const key of Object.keys(context).filter((key) => key.startsWith("$"))) {
    const message = `${name}: its context has the key "${key}" - such keys mark NOVA's references: use another name`;
    yield finding("NOVA502", at(path, "context", key), message);
  }
}

function* checkZone({ timezone, every }: Written, { name, path }: WrittenPlace): Iterable<Finding> {
  if (timezone === undefined) return;
  if (every !== undefined) {
    yield finding("NOVA124", at(path, "timezone"), `${name}: every needs no time zone - remove timezone`);
  } else if (typeof timezone === "string" && timezone.trim() !== "" && !isTimeZone(timezone)) {
    const message = `${name}: there is no time zone ${formatValue(timezone)} - write its name, such as Europe/Madrid`;
    yield finding("NOVA124", at(path, "timezone"), message);
  }
}
