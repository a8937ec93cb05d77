import { valuesOf } from "./values.ts";

/** Whether a day is meant; the month from 1. */
export type DayRule = (year: number, month: number, day: number) => boolean;

const weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** From 1 for Sunday, as EventBridge counts. */
function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

/** `*`, `1,15`, `L` for the last day, `15W` for the working day nearest to the 15th in its month, `LW`. */
export function dayOfMonthRule(field: string): DayRule {
  if (field === "L") return (year, month, day) => day === daysIn(year, month);
  if (field === "LW") return (year, month, day) => day === nearestWorkingDay(year, month, daysIn(year, month));
  const [, near] = /^(\d+)W$/.exec(field) ?? [];
  if (near === undefined) {
    const days = valuesOf(field, { min: 1, max: 31 });
    return (_year, _month, day) => days.includes(day);
  }
  const wanted = Number(near);
  return (year, month, day) => wanted <= daysIn(year, month) && day === nearestWorkingDay(year, month, wanted);
}

/** Stays in the month: of a first that is a Saturday it is Monday the 3rd. */
function nearestWorkingDay(year: number, month: number, day: number): number {
  const weekday = weekdayOf(year, month, day);
  if (weekday === 7) return day > 1 ? day - 1 : day + 2;
  if (weekday === 1) return day < daysIn(year, month) ? day + 1 : day - 2;
  return day;
}

/** `MON-FRI`, `L` for Saturday, `6L` for the last Friday of the month, `2#1` for its first Monday. */
export function dayOfWeekRule(field: string): DayRule {
  if (field === "L") return (year, month, day) => weekdayOf(year, month, day) === 7;
  const bounds = { min: 1, max: 7, names: weekdayNames };
  const [, last] = /^(\w+)L$/.exec(field) ?? [];
  if (last !== undefined) {
    const [wanted] = valuesOf(last, bounds);
    return (year, month, day) => weekdayOf(year, month, day) === wanted && day + 7 > daysIn(year, month);
  }
  const [weekdays = "", which] = field.split("#");
  const wanted = valuesOf(weekdays, bounds);
  return (year, month, day) =>
    wanted.includes(weekdayOf(year, month, day)) && (which === undefined || Math.ceil(day / 7) === Number(which));
}
