/** What a clock on a wall shows; the month from 1. */
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

/** How far the zone is ahead of UTC at an instant, milliseconds. */
function offsetAt(timeZone: string, ms: number): number {
  const { second, ...wall } = wallTimeAt(timeZone, ms);
  return utcOf(wall) + second * 1000 - Math.floor(ms / 1000) * 1000;
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * When a clock of the zone shows this first: once where clocks are set back over it, and undefined where they are set
 * forward over it (EventBridge Scheduler User Guide, "Daylight savings time").
 */
export function instantOf(timeZone: string, wall: WallTime): number | undefined {
  const utc = utcOf(wall);
  const offsets = [offsetAt(timeZone, utc - dayMs), offsetAt(timeZone, utc + dayMs)];
  const instants = offsets.map((offset) => utc - offset).filter((ms) => offsetAt(timeZone, ms) === utc - ms);
  return instants.length === 0 ? undefined : Math.min(...instants);
}
