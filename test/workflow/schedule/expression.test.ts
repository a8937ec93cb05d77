import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cronProblem,
  isLocalTime,
  isTimeZone,
  nextTime,
  parseCron,
  timeOf,
} from "../../../packages/workflow/src/schedule/expression.ts";

const next = (cron: string, zone: string, after: string) => {
  const ms = nextTime(parseCron(cron), zone, Date.parse(after));
  return ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);
};

function several(cron: string, zone: string, after: string, count: number): (string | undefined)[] {
  const times: (string | undefined)[] = [];
  for (let from = after; times.length < count; from = `${times.at(-1)}Z`) times.push(next(cron, zone, from));
  return times;
}

describe("a cron expression", () => {
  it.each([
    ["0 9 * * ? *", "UTC", "2026-11-22T09:00Z", "2026-11-23T09:00"],
    ["0 9 * * ? *", "UTC", "2026-11-22T08:59Z", "2026-11-22T09:00"],
    ["0/15 * * * ? *", "UTC", "2026-11-22T08:16Z", "2026-11-22T08:30"],
    ["5,10-12 8 * * ? *", "UTC", "2026-11-22T08:11Z", "2026-11-22T08:12"],
    ["0 22-2/2 * * ? *", "UTC", "2026-11-22T22:30Z", "2026-11-23T00:00"],
    ["0 9 ? * MON-FRI *", "UTC", "2026-11-20T10:00Z", "2026-11-23T09:00"],
    ["0 9 ? * 2#1 *", "UTC", "2026-11-22T00:00Z", "2026-12-07T09:00"],
    ["0 9 ? * FRIL *", "UTC", "2026-11-22T00:00Z", "2026-11-27T09:00"],
    ["0 9 ? * L *", "UTC", "2026-11-22T00:00Z", "2026-11-28T09:00"],
    ["0 9 L * ? *", "UTC", "2028-02-01T00:00Z", "2028-02-29T09:00"],
    ["0 9 LW * ? *", "UTC", "2026-10-01T00:00Z", "2026-10-30T09:00"],
    ["0 9 15W * ? *", "UTC", "2026-11-01T00:00Z", "2026-11-16T09:00"],
    ["0 9 1W * ? *", "UTC", "2026-07-31T10:00Z", "2026-08-03T09:00"],
    ["0 9 31W * ? *", "UTC", "2026-11-01T00:00Z", "2026-12-31T09:00"],
    ["0 9 29 2 ? *", "UTC", "2026-11-22T00:00Z", "2028-02-29T09:00"],
    ["0 9 1 JAN,JUL ? 2027-2029/2", "UTC", "2027-08-01T00:00Z", "2029-01-01T09:00"],
    ["0 9 31 2 ? *", "UTC", "2026-11-22T00:00Z", undefined],
    ["0 9 1 1 ? 2020", "UTC", "2026-11-22T00:00Z", undefined],
    ["0 9 * * ? *", "Asia/Kathmandu", "2026-11-22T00:00Z", "2026-11-22T03:15"],
    ["0 9 * * ? *", "America/New_York", "2026-07-01T00:00Z", "2026-07-01T13:00"],
  ])("%s in the time zone %s, after %s, is next due at %s", (cron, zone, after, time) => {
    expect(next(cron, zone, after)).toBe(time);
  });

  it("is not due on a day on which clocks are set forward and skip its time", () => {
    const due = several("30 2 * * ? *", "Europe/Madrid", "2026-03-27T12:00Z", 3);
    expect(due).toEqual(["2026-03-28T01:30", "2026-03-30T00:30", "2026-03-31T00:30"]);
  });

  it("is due only once on a day on which clocks are set back and show its time twice", () => {
    const due = several("30 2 * * ? *", "Europe/Madrid", "2026-10-24T12:00Z", 2);
    expect(due).toEqual(["2026-10-25T00:30", "2026-10-26T01:30"]);
    expect(next("0/15 * * * ? *", "Europe/Madrid", "2026-10-25T00:45Z")).toBe("2026-10-25T02:00");
  });

  it("is not due on a day that a country has skipped in its calendar", () => {
    expect(several("0 12 * * ? *", "Pacific/Apia", "2011-12-28T23:00Z", 2)).toEqual([
      "2011-12-29T22:00",
      "2011-12-30T22:00",
    ]);
  });
});

const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant("*"),
    number(min, max),
    fc.tuple(number(min, max), number(min, max)).map((ends) => ends.join("-")),
    fc.tuple(fc.constantFrom("*", String(min)), number(1, max)).map((parts) => parts.join("/")),
    fc.array(number(min, max), { minLength: 2, maxLength: 3 }).map((list) => list.join(",")),
  );
const dayOfMonth = fc.oneof(
  field(1, 31),
  fc.constantFrom("L", "LW"),
  number(1, 31).map((day) => `${day}W`),
);
const dayOfWeek = fc.oneof(
  field(1, 7),
  fc.constant("L"),
  number(1, 7).map((day) => `${day}L`),
  fc.tuple(number(1, 7), number(1, 5)).map((parts) => parts.join("#")),
);
const days = fc.oneof(
  fc.tuple(dayOfMonth, field(1, 12), fc.constant("?")),
  fc.tuple(fc.constant("?"), field(1, 12), dayOfWeek),
);
const expression = fc
  .tuple(field(0, 59), field(0, 23), days, fc.constantFrom("*", "2026", "2026-2028"))
  .map((parts) => parts.flat().join(" "));
/** Instants at which clocks are set: by an hour, by half an hour, or at midnight. */
const settings: [zone: string, at: string][] = [
  ["Europe/Madrid", "2026-03-29T01:00Z"],
  ["Europe/Madrid", "2026-10-25T01:00Z"],
  ["America/New_York", "2026-03-08T07:00Z"],
  ["America/New_York", "2026-11-01T06:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["America/Havana", "2026-03-08T05:00Z"],
  ["America/Havana", "2026-11-01T05:00Z"],
];
const hourMs = 60 * 60 * 1000;
const aroundSettings = fc
  .tuple(fc.constantFrom(...settings), fc.integer({ min: -3 * hourMs, max: hourMs }))
  .map(([[zone, at], ms]): [string, number] => [zone, Date.parse(at) + ms]);
const anytime = fc.tuple(
  fc.constantFrom("UTC", "Asia/Kolkata", ...settings.map(([zone]) => zone)),
  fc.integer({ min: Date.parse("2026-01-01"), max: Date.parse("2027-01-01") }),
);
const place = fc.oneof({ arbitrary: aroundSettings, weight: 3 }, { arbitrary: anytime, weight: 1 });

it("a random cron expression is next due at the time that a search through every minute finds", () => {
  fc.assert(
    fc.property(expression, place, (cron, [timeZone, afterMs]) => {
      const slow = slowNextTime(cron, timeZone, afterMs);
      const fast = nextTime(parseCron(cron), timeZone, afterMs);
      if (slow.found === undefined) expect(fast === undefined || fast > slow.untilMs).toBe(true);
      else expect(fast).toBe(slow.found);
    }),
    { numRuns: 100 },
  );
});

it.each([
  "0 9 ? * MON-FRI *",
  "0 9 * * ? *",
  "0/15 8-18 1,15 JAN-JUN,12 ? 2026-2030/2",
  "59 23 L * ? *",
  "0 10 LW * ? *",
  "0 10 15W * ? *",
  "0 10 ? * 2#1 *",
  "0 10 ? * FRIL *",
  "0 10 ? * L *",
  "  0   10 ? * mon-wed *  ",
])("the cron expression %s is valid", (cron) => {
  expect(cronProblem(cron)).toBeUndefined();
});

it.each([
  ["0 9 * * 1-5", /has 5 fields and not 6: minute, hour.*\(with \? for one of the two days, and a year\)/],
  ["0 9 * * * * *", /has 7 fields and not 6: [^(]*$/],
  ["cron(0 9 * * ? *)", /without cron\( \) around/],
  ["60 9 * * ? *", /wrong minute, 60/],
  ["0 24 * * ? *", /wrong hour, 24/],
  ["0 9 0 * ? *", /wrong day of the month, 0/],
  ["0 9 32W * ? *", /wrong day of the month, 32W/],
  ["0 9 * 13 ? *", /wrong month, 13/],
  ["0 9 * MON ? *", /wrong month, MON/],
  ["0 9 ? * 0 *", /wrong day of the week, 0/],
  ["0 9 ? * 2#6 *", /wrong day of the week, 2#6/],
  ["0 9 ? * MON-TUE-WED *", /wrong day of the week/],
  ["0 9 * * ? 1969", /wrong year, 1969/],
  ["0/0 9 * * ? *", /wrong minute, 0\/0/],
  ["0/5/5 9 * * ? *", /wrong minute/],
  ["1, 9 * * ? *", /wrong minute, 1,/],
  ["? 9 * * ? *", /wrong minute, \?/],
  ["0 9 * * * *", /needs \? as exactly one/],
  ["0 9 ? * ? *", /needs \? as exactly one/],
])("the cron expression %s is refused with a problem", (cron, problem) => {
  expect(cronProblem(cron)).toMatch(problem);
  expect(cronProblem(cron)).toMatch(/ - /);
});

it.each([
  ["Europe/Madrid", true],
  ["America/Argentina/Buenos_Aires", true],
  ["UTC", true],
  ["Etc/GMT+3", true],
  ["Europe/Madrod", false],
  ["CEST", false],
  ["+01:00", false],
  ["", false],
])("isTimeZone(%j) returns %s", (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

it.each([
  ["2026-01-31T09:00", true],
  ["2026-01-31T09:00:30", true],
  ["2028-02-29T00:00", true],
  ["2026-02-29T00:00", false],
  ["2026-01-31T24:00", false],
  ["2026-01-31T09:60", false],
  ["2026-01-31", false],
  ["2026-01-31T09:00Z", false],
  ["2026-01-31T09:00+01:00", false],
])("isLocalTime(%j) returns %s", (text, expected) => {
  expect(isLocalTime(text)).toBe(expected);
});

it.each([
  ["2026-01-31T09:00Z", "2026-01-31T09:00:00.000Z"],
  ["2026-01-31T09:00:30.5Z", "2026-01-31T09:00:30.500Z"],
  ["2026-01-31T09:00-05:00", "2026-01-31T14:00:00.000Z"],
  ["2026-01-31T09:00:00-0500", "2026-01-31T14:00:00.000Z"],
  ["2026-01-31T09:00+0530", "2026-01-31T03:30:00.000Z"],
  ["2026-01-31T09:00+02", "2026-01-31T07:00:00.000Z"],
  ["2026-02-30T09:00Z", undefined],
  ["2026-01-31T09:00", undefined],
  ["2026-01-31T09:00+5", undefined],
  ["2026-01-31T09:00+05000", undefined],
  ["2026-01-31T09:00+99:00", undefined],
])("timeOf(%j) returns the time %s", (text, expected) => {
  const ms = timeOf(text);
  expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(expected);
});

/** The length of the period that `slowNextTime` searches. It does not find later times. */
const walkedMs = 30 * 60 * 60 * 1000;
const minuteMs = 60_000;

/**
 * Searches through every minute for the next time. It skips a minute whose local time occurred in the three hours
 * before, because clocks were set back.
 */
function slowNextTime(cron: string, timeZone: string, afterMs: number): { found?: number; untilMs: number } {
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

/** True if a cron expression matches a local time such as `Sun, 22/11/2026, 08:05`. */
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
