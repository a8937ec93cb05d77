import { expect, it } from "vitest";
import { cronProblem } from "../../../packages/workflow/src/schedule/cron.ts";

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
])("the cron expression %s has a problem", (cron, problem) => {
  expect(cronProblem(cron)).toMatch(problem);
  expect(cronProblem(cron)).toMatch(/ - /);
});
