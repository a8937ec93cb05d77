import { type Cron, cronProblem, daysIn, parseCron } from "./cron.ts";
import { instantOf, isLocalTime, type WallTime, wallTimeAt } from "./zone.ts";

/** The times of a schedule. */
export type Expression =
  | { kind: "cron"; cron: Cron; timeZone: string }
  | { kind: "rate"; everyMs: number }
  | { kind: "at"; atMs: number | undefined };

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Returns undefined for an invalid expression (EventBridge Scheduler, "Schedule types"). */
export function parseExpression(text: string, timeZone: string): Expression | undefined {
  const [, kind, inner = ""] = /^(cron|rate|at)\((.*)\)$/.exec(text) ?? [];
  if (kind === "cron" && cronProblem(inner) === undefined) return { kind, cron: parseCron(inner), timeZone };
  if (kind === "rate") return rateOf(inner);
  if (kind === "at") return atOf(inner, timeZone);
  return undefined;
}

function rateOf(text: string): Expression | undefined {
  const [, count, unit] = /^([1-9]\d{0,8}) (minute|hour|day)s?$/.exec(text) ?? [];
  return unit === undefined
    ? undefined
    : { kind: "rate", everyMs: Number(count) * unitMs[unit as keyof typeof unitMs] };
}

function atOf(text: string, timeZone: string): Expression | undefined {
  if (!isLocalTime(text) || !/:\d\d:\d\d$/.test(text)) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/[-T:]/).map(Number);
  const ms = instantOf(timeZone, { year, month, day, hour, minute });
  return { kind: "at", atMs: ms === undefined ? undefined : ms + second * 1000 };
}

/** Returns the first time after `afterMs`; undefined if there is none. A rate counts from `startMs`, its first time. */
export function dueAfter(expression: Expression, startMs: number, afterMs: number): number | undefined {
  if (expression.kind === "cron") return nextTime(expression.cron, expression.timeZone, afterMs);
  if (expression.kind === "rate") {
    const { everyMs } = expression;
    return afterMs < startMs ? startMs : startMs + (Math.floor((afterMs - startMs) / everyMs) + 1) * everyMs;
  }
  const { atMs } = expression;
  return atMs !== undefined && atMs > afterMs ? atMs : undefined;
}

/** Returns the first time after `afterMs` that a cron expression matches; undefined if there is none. */
export function nextTime(cron: Cron, timeZone: string, afterMs: number): number | undefined {
  const from = wallTimeAt(timeZone, afterMs);
  for (const wall of wallTimes(cron, from)) {
    const ms = instantOf(timeZone, wall);
    if (ms !== undefined && ms > afterMs) return ms;
  }
  return undefined;
}

/** Yields the local times that the expression matches, from a day onwards. */
function* wallTimes({ hours, minutes, ...days }: Cron, from: WallTime): Iterable<WallTime> {
  for (const day of daysOf(days, from)) {
    const isFirst = day.year === from.year && day.month === from.month && day.day === from.day;
    for (const hour of hours) {
      if (isFirst && hour < from.hour) continue;
      for (const minute of minutes) yield { ...day, hour, minute };
    }
  }
}

function* daysOf(
  { years, months, isDay }: Pick<Cron, "years" | "months" | "isDay">,
  from: WallTime,
): Iterable<Pick<WallTime, "year" | "month" | "day">> {
  for (const year of years.filter((one) => one >= from.year)) {
    const isFirstYear = year === from.year;
    for (const month of months.filter((one) => !isFirstYear || one >= from.month)) {
      const first = isFirstYear && month === from.month ? from.day : 1;
      for (let day = first; day <= daysIn(year, month); day++) {
        if (isDay(year, month, day)) yield { year, month, day };
      }
    }
  }
}
