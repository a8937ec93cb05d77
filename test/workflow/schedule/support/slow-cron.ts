/** The length of the walk. Later times are not found. */
const walkedMs = 30 * 60 * 60 * 1000;
const minuteMs = 60_000;

/** Walks over every minute. One whose local time occurred in the three hours before is a repetition, and is skipped. */
export function slowNextTime(cron: string, timeZone: string, afterMs: number): { found?: number; untilMs: number } {
  const untilMs = afterMs + walkedMs;
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const shown = (ms: number) => clock.format(ms);
  const seen: string[] = [];
  const first = Math.floor(afterMs / minuteMs) * minuteMs;
  for (let ms = first - 180 * minuteMs; ms <= untilMs; ms += minuteMs) {
    const text = shown(ms);
    const isSecond = seen.includes(text);
    seen.push(text);
    if (seen.length > 180) seen.shift();
    if (ms > afterMs && !isSecond && fits(cron, text)) return { found: ms, untilMs };
  }
  return { untilMs };
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Matches a time such as `Sun, 22/11/2026, 08:05`. */
function fits(cron: string, shown: string): boolean {
  const [minutes = "", hours = "", days = "", months = "", ofWeek = "", years = ""] = cron.split(" ");
  const [name = "", ...digits] = shown.match(/[A-Za-z]+|\d+/g) ?? [];
  const [day = 0, month = 0, year = 0, hour = 0, minute = 0] = digits.map(Number);
  const weekday = weekdays.indexOf(name) + 1;
  const date = { year, month, day, weekday };
  return (
    among(minutes, minute, 0, 59) &&
    among(hours, hour, 0, 23) &&
    among(months, month, 1, 12) &&
    among(years, year, 1970, 2199) &&
    (days === "?" ? fitsWeekday(ofWeek, date) : fitsDay(days, date))
  );
}

function among(field: string, value: number, min: number, max: number): boolean {
  return field.split(",").some((item) => {
    const [range = "", step = "1"] = item.split("/");
    if (range === "*") return (value - min) % Number(step) === 0;
    const [from = 0, to] = range.split("-").map(Number);
    if (to === undefined)
      return item.includes("/") ? value >= from && (value - from) % Number(step) === 0 : value === from;
    for (let at = from; ; at = at === max ? min : at + 1) {
      const gone = at >= from ? at - from : at - from + (max - min + 1);
      if (at === value && gone % Number(step) === 0) return true;
      if (at === to) return false;
    }
  });
}

interface Day {
  year: number;
  month: number;
  day: number;
  weekday: number;
}

function fitsDay(field: string, { year, month, day, weekday }: Day): boolean {
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isWorkingDay = weekday > 1 && weekday < 7;
  const lastWeekday = new Date(Date.UTC(year, month - 1, last)).getUTCDay() + 1;
  if (field === "L") return day === last;
  if (field === "LW") return day === last - (lastWeekday === 7 ? 1 : lastWeekday === 1 ? 2 : 0);
  if (!field.endsWith("W")) return among(field, day, 1, 31);
  const wanted = Number(field.slice(0, -1));
  if (wanted > last || !isWorkingDay) return false;
  const distances = [0, -1, 1, -2, 2].map((distance) => wanted + distance);
  const working = distances.find((one) => {
    const date = new Date(Date.UTC(year, month - 1, one));
    return one >= 1 && one <= last && date.getUTCDay() > 0 && date.getUTCDay() < 6;
  });
  return day === working;
}

function fitsWeekday(field: string, { year, month, day, weekday }: Day): boolean {
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (field === "L") return weekday === 7;
  if (field.endsWith("L")) return weekday === Number(field.slice(0, -1)) && day > last - 7;
  const [days = "", which] = field.split("#");
  return among(days, weekday, 1, 7) && (which === undefined || Math.floor((day - 1) / 7) + 1 === Number(which));
}
