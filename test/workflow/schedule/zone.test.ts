import { expect, it } from "vitest";
import { isLocalTime, isTimeZone, timeOf } from "../../../packages/workflow/src/schedule/zone.ts";

it.each([
  ["Europe/Madrid", true],
  ["America/Argentina/Buenos_Aires", true],
  ["UTC", true],
  ["Etc/GMT+3", true],
  ["Europe/Madrod", false],
  ["CEST", false],
  ["+01:00", false],
  ["", false],
])("%j is the name of a time zone: %s", (name, expected) => {
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
])("%j is a local time: %s", (text, expected) => {
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
])("%j is the instant %s", (text, expected) => {
  const ms = timeOf(text);
  expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(expected);
});
