export type Expression =
  | { kind: "cron"; cron: Cron; timeZone: string }
  | { kind: "rate"; everyMs: number }
  | { kind: "at"; atMs: number | undefined };

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * Parses a schedule expression: `cron(...)`, `rate(...)` or `at(...)` (EventBridge Scheduler, "Schedule types").
 * Returns undefined if the expression is invalid.
 */
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

/**
 * Returns the first time after `afterMs` at which a schedule is due; undefined if there is none. A rate is first due at
 * `startMs`.
 */
export function dueAfter(expression: Expression, startMs: number, afterMs: number): number | undefined {
  if (expression.kind === "cron") return nextTime(expression.cron, expression.timeZone, afterMs);
  if (expression.kind === "rate") {
    const { everyMs } = expression;
    return afterMs < startMs ? startMs : startMs + (Math.floor((afterMs - startMs) / everyMs) + 1) * everyMs;
  }
  const { atMs } = expression;
  return atMs !== undefined && atMs > afterMs ? atMs : undefined;
}

export function nextTime(cron: Cron, timeZone: string, afterMs: number): number | undefined {
  const from = wallTimeAt(timeZone, afterMs);
  for (const wall of wallTimes(cron, from)) {
    const ms = instantOf(timeZone, wall);
    if (ms !== undefined && ms > afterMs) return ms;
  }
  return undefined;
}

function* wallTimes({ hours, minutes, ...days }: Cron, from: WallTime): Iterable<WallTime> {
  for (const day of daysOf(days, from)) {
    const isFirst = day.year === from.year && day.month === from.month && day.day === from.day;
    for (const hour of hours) {
      if (isFirst && hour < from.hour) continue;
      for (const minute of minutes) yield { ...day, hour, minute };
    }
  }
}

function* daysOf({ years, months, isDay }: Pick<Cron, "years" | "months" | "isDay">, from: WallTime) {
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

export interface Cron {
  minutes: Values;
  hours: Values;
  months: Values;
  years: Values;
  isDay: DayRule;
}

/** A field of an EventBridge cron expression. Source: EventBridge Scheduler User Guide, "Cron-based schedules". */
interface Field {
  name: string;
  min: number;
  max: number;
  /** Names of the values, from `min` on. */
  names?: readonly string[];
  special?: RegExp;
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const fields = {
  minute: { name: "minute", min: 0, max: 59 },
  hour: { name: "hour", min: 0, max: 23 },
  day: { name: "day of the month", min: 1, max: 31, special: /^(\?|L|LW|([1-9]|[12]\d|3[01])W)$/ },
  month: { name: "month", min: 1, max: 12, names: months },
  weekday: {
    name: "day of the week",
    min: 1,
    max: 7,
    names: days,
    special: /^(\?|L|([1-7]|[A-Z]{3})L|([1-7]|[A-Z]{3})#[1-5])$/,
  },
  year: { name: "year", min: 1970, max: 2199 },
} satisfies Record<string, Field>;

const inOrder: readonly Field[] = Object.values(fields);

const partsOf = (cron: string) => cron.trim().toUpperCase().split(/\s+/);

/** Parses a cron expression for which `cronProblem` finds no problem. */
export function parseCron(text: string): Cron {
  const [minute = "", hour = "", day = "", month = "", weekday = "", year = ""] = partsOf(text);
  return {
    minutes: valuesOf(minute, fields.minute),
    hours: valuesOf(hour, fields.hour),
    months: valuesOf(month, fields.month),
    years: valuesOf(year, fields.year),
    isDay: day === "?" ? dayOfWeekRule(weekday) : dayOfMonthRule(day),
  };
}

const example = "0 9 ? * MON-FRI * for 9:00 on working days";

/** Finds the problem of a cron expression, to complete "cron ..."; undefined for a valid one. */
export function cronProblem(cron: string): string | undefined {
  const parts = partsOf(cron);
  if (/^CRON\(/.test(parts[0] ?? "")) return "is written without cron( ) around - remove that";
  if (parts.length !== inOrder.length) {
    const extra = parts.length === 5 ? " (with ? for one of the two days, and a year)" : "";
    return `has ${parts.length} fields and not 6: ${inOrder.map(({ name }) => name).join(", ")}${extra} - write such as ${example}`;
  }
  const at = inOrder.findIndex((field, index) => {
    const text = parts[index] ?? "";
    return !field.special?.test(text) && valuesOf(text, field).length === 0;
  });
  if (at >= 0) return `has a wrong ${inOrder[at]?.name}, ${parts[at]} - write such as ${example}`;
  if ((parts[2] === "?") === (parts[4] === "?")) {
    return `needs ? as exactly one of day of the month and day of the week - write such as ${example}`;
  }
  return undefined;
}

export type Values = readonly number[];

/** Parses a list such as `1,10-20/5,MON-FRI,*`. Returns an empty list if a part is wrong. */
function valuesOf(text: string, field: Field): Values {
  const lists = text.split(",").map((item) => valuesOfItem(item, field));
  return lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())].sort((a, b) => a - b);
}

/**
 * Parses `*`, `5`, `MON` or `1-5`, each with or without `/step`. A descending range wraps around: `22-2` means the
 * hours from 22 to 2.
 */
function valuesOfItem(item: string, field: Field): number[] {
  const { min, max } = field;
  const [, range = "", step] = /^([^/]*)(?:\/([1-9]\d{0,3}))?$/.exec(item) ?? [];
  const ends = range === "*" ? [min, max] : range.split("-").map((end) => numberOf(end, field));
  // With a step, a single value means the range from that value to the maximum.
  const [from = Number.NaN, to = step === undefined ? from : max] = ends;
  if (ends.length > 2 || Number.isNaN(from) || Number.isNaN(to)) return [];
  const length = to >= from ? to - from : to + (max - min + 1) - from;
  const by = Number(step ?? 1);
  const steps = Array.from({ length: Math.floor(length / by) + 1 }, (_, index) => from + index * by);
  return steps.map((value) => (value > max ? value - (max - min + 1) : value));
}

/** Parses one value of a field, a number or a name. Returns NaN for any other text. */
function numberOf(text: string, { min, max, names = [] }: Field): number {
  const named = names.indexOf(text);
  if (named >= 0) return named + min;
  return /^\d{1,4}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : Number.NaN;
}

/** Returns true if the expression matches this day. Months count from 1. */
type DayRule = (year: number, month: number, day: number) => boolean;

export function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Returns the day of the week, from 1 for Sunday to 7, as EventBridge counts. */
function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

/**
 * Parses the day of the month: `*`, `1,15`, `L` (the last day), `15W` (the working day of the month nearest to the
 * 15th) or `LW` (the last working day).
 */
function dayOfMonthRule(field: string): DayRule {
  if (field === "L") return (year, month, day) => day === daysIn(year, month);
  if (field === "LW") return (year, month, day) => day === nearestWorkingDay(year, month, daysIn(year, month));
  const [, near] = /^(\d+)W$/.exec(field) ?? [];
  if (near === undefined) {
    const days = valuesOf(field, fields.day);
    return (_year, _month, day) => days.includes(day);
  }
  const wanted = Number(near);
  return (year, month, day) => wanted <= daysIn(year, month) && day === nearestWorkingDay(year, month, wanted);
}

/** Returns the working day nearest to a day of the same month: for a Saturday the 1st, it is Monday the 3rd. */
function nearestWorkingDay(year: number, month: number, day: number): number {
  const weekday = weekdayOf(year, month, day);
  if (weekday === 7) return day > 1 ? day - 1 : day + 2;
  if (weekday === 1) return day < daysIn(year, month) ? day + 1 : day - 2;
  return day;
}

/**
 * Parses the day of the week: `MON-FRI`, `L` (Saturday), `6L` (the last Friday of the month) or `2#1` (its first
 * Monday).
 */
function dayOfWeekRule(field: string): DayRule {
  if (field === "L") return (year, month, day) => weekdayOf(year, month, day) === 7;
  const [, last] = /^(\w+)L$/.exec(field) ?? [];
  if (last !== undefined) {
    const [wanted] = valuesOf(last, fields.weekday);
    return (year, month, day) => weekdayOf(year, month, day) === wanted && day + 7 > daysIn(year, month);
  }
  const [weekdays = "", which] = field.split("#");
  const wanted = valuesOf(weekdays, fields.weekday);
  return (year, month, day) =>
    wanted.includes(weekdayOf(year, month, day)) && (which === undefined || Math.ceil(day / 7) === Number(which));
}

/** A date and time in some time zone. Months count from 1. */
export interface WallTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const there = formats.get(timeZone);
  if (there) return there;
  const part = "numeric" as const;
  const fields = { year: part, month: part, day: part, hour: part, minute: part, second: part };
  const made = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", { timeZone, hourCycle: "h23", ...fields });
  formats.set(timeZone, made);
  return made;
}

export function wallTimeAt(timeZone: string, ms: number): WallTime & { second: number } {
  const parts = formatOf(timeZone).formatToParts(ms);
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  const [year, month, day] = [of("year"), of("month"), of("day")];
  return { year, month, day, hour: of("hour"), minute: of("minute"), second: of("second") };
}

/** Returns how far a time zone is ahead of UTC at an instant, in milliseconds. */
function offsetAt(timeZone: string, ms: number): number {
  const { second, ...wall } = wallTimeAt(timeZone, ms);
  return utcOf(wall) + second * 1000 - Math.floor(ms / 1000) * 1000;
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the first instant at which clocks of the zone show this time; undefined if they skip it (EventBridge
 * Scheduler, "Daylight savings time").
 */
export function instantOf(timeZone: string, wall: WallTime): number | undefined {
  const utc = utcOf(wall);
  const offsets = [offsetAt(timeZone, utc - dayMs), offsetAt(timeZone, utc + dayMs)];
  const instants = offsets.map((offset) => utc - offset).filter((ms) => offsetAt(timeZone, ms) === utc - ms);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/**
 * Returns true for the name of a time zone. An offset such as `+01:00` is no such name, because EventBridge Scheduler
 * refuses it.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    // Intl has thrown a RangeError, because the zone is unknown.
    return false;
  }
}

/**
 * Returns true for a time without a zone, such as `2026-01-31T09:00` or `2026-01-31T09:00:30`, on a day that exists.
 */
export function isLocalTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return false;
  const time = new Date(`${text}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

const isoTime = /^((\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:(Z)|([+-]\d{2})(?::?(\d{2}))?)$/i;

/**
 * Parses an ISO 8601 time with an offset (`Z`, `-05:00`, `-0500`, `-05`) into milliseconds since 1970; undefined for
 * any other text.
 */
export function timeOf(text: string): number | undefined {
  const [, local, year, month, day, utc, hours, minutes = "00"] = isoTime.exec(text.trim()) ?? [];
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) return undefined;
  const time = Date.parse(`${local}${utc ?? `${hours}:${minutes}`}`);
  return Number.isNaN(time) ? undefined : time;
}
