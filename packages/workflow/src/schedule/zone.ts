/** A local time; months count from 1. */
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

/** Offset of the zone from UTC at an instant, in milliseconds. */
function offsetAt(timeZone: string, ms: number): number {
  const { second, ...wall } = wallTimeAt(timeZone, ms);
  return utcOf(wall) + second * 1000 - Math.floor(ms / 1000) * 1000;
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The first instant with this local time. A clock that is set back shows it twice; the result is undefined if a clock
 * is set forward over it (EventBridge Scheduler User Guide, "Daylight savings time").
 */
export function instantOf(timeZone: string, wall: WallTime): number | undefined {
  const utc = utcOf(wall);
  const offsets = [offsetAt(timeZone, utc - dayMs), offsetAt(timeZone, utc + dayMs)];
  const instants = offsets.map((offset) => utc - offset).filter((ms) => offsetAt(timeZone, ms) === utc - ms);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/** True for names of time zones that EventBridge Scheduler accepts: no offsets such as `+01:00`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    // Intl throws a RangeError for an unknown zone.
    return false;
  }
}

/** True for a time without a zone, `2026-01-31T09:00` or with seconds, on an existing day. */
export function isLocalTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)) return false;
  const time = new Date(`${text}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

const isoTime = /^((\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:(Z)|([+-]\d{2})(?::?(\d{2}))?)$/i;

/** Parses an ISO 8601 time with its offset (`Z`, `-05:00`, `-0500`, `-05`) into ms; undefined for others. */
export function timeOf(text: string): number | undefined {
  const [, local, year, month, day, utc, hours, minutes = "00"] = isoTime.exec(text.trim()) ?? [];
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) return undefined;
  const time = Date.parse(`${local}${utc ?? `${hours}:${minutes}`}`);
  return Number.isNaN(time) ? undefined : time;
}
