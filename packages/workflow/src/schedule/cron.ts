import { type DayRule, dayOfMonthRule, dayOfWeekRule } from "./days.ts";
import { type Values, valuesOf } from "./values.ts";

/** A cron expression of EventBridge Scheduler, taken apart. */
export interface Cron {
  minutes: Values;
  hours: Values;
  months: Values;
  years: Values;
  /** Whether a day of a month is meant; what the expression says of months is not asked here. */
  isDay: DayRule;
}

const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/** Of six fields that `cronProblem` finds nothing wrong with: minute, hour, day, month, day of the week, year. */
export function parseCron(text: string): Cron {
  const [minute = "", hour = "", day = "", month = "", weekday = "", year = ""] = text
    .trim()
    .toUpperCase()
    .split(/\s+/);
  return {
    minutes: valuesOf(minute, { min: 0, max: 59 }),
    hours: valuesOf(hour, { min: 0, max: 23 }),
    months: valuesOf(month, { min: 1, max: 12, names: monthNames }),
    years: valuesOf(year, { min: 1970, max: 2199 }),
    isDay: day === "?" ? dayOfWeekRule(weekday) : dayOfMonthRule(day),
  };
}
