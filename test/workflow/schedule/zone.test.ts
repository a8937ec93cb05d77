import { expect, it } from "vitest";
import { isLocalTime, isTimeZone } from "../../../packages/workflow/src/schedule/zone.ts";

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
