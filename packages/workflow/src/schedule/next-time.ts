import type { Cron } from "./cron.ts";
import { daysIn } from "./days.ts";
import { instantOf, type WallTime, wallTimeAt } from "./zone.ts";

/** The first time after `afterMs` at which a cron expression is due; undefined: never again. */
export function nextTime(cron: Cron, timeZone: string, afterMs: number): number | undefined {
  const from = wallTimeAt(timeZone, afterMs);
  for (const wall of wallTimes(cron, from)) {
    const ms = instantOf(timeZone, wall);
    if (ms !== undefined && ms > afterMs) return ms;
  }
  return undefined;
}

/** What clocks show when the expression is due, from a day on. */
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
