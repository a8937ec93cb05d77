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

interface Bounds {
  min: number;
  max: number;
  /** Of values, the first for `min`. */
  names?: readonly string[];
}

/** Those that a field of a cron expression means, ascending. */
export type Values = readonly number[];

/** Of a list such as `1,10-20/5,MON-FRI,*`. A range that goes down goes around: `22-2` are the hours of a night. */
export function valuesOf(field: string, bounds: Bounds): Values {
  const found = new Set(field.split(",").flatMap((item) => valuesOfItem(item, bounds)));
  return [...found].sort((a, b) => a - b);
}

function valuesOfItem(item: string, bounds: Bounds): number[] {
  const { min, max } = bounds;
  const [range = "", step] = item.split("/");
  const [first = "", last] = range.split("-");
  const from = range === "*" ? min : numberOf(first, bounds);
  // One value with a step goes on to the end.
  const to = last !== undefined ? numberOf(last, bounds) : range === "*" || step !== undefined ? max : from;
  const length = to >= from ? to - from : to + (max - min + 1) - from;
  const by = Number(step ?? 1);
  const steps = Array.from({ length: Math.floor(length / by) + 1 }, (_, index) => from + index * by);
  return steps.map((value) => (value > max ? value - (max - min + 1) : value));
}

function numberOf(text: string, { min, names = [] }: Bounds): number {
  const named = names.indexOf(text);
  return named < 0 ? Number(text) : named + min;
}

/** Whether a day is meant; the month from 1. */
type DayRule = (year: number, month: number, day: number) => boolean;

const weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** From 1 for Sunday, as EventBridge counts. */
function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

/** `*`, `1,15`, `L` for the last day, `15W` for the working day nearest to the 15th in its month, `LW`. */
function dayOfMonthRule(field: string): DayRule {
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
function dayOfWeekRule(field: string): DayRule {
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
