import { expect, it } from "vitest";
import { type Progress, progressText } from "../../../packages/cli/src/commands/verify.ts";

it.each<[string, Progress, number, string]>([
  ["the start of the check", { done: 0, total: undefined, broken: 0 }, 0, "0 runs, 0/s, 0 broken"],
  ["an unknown total", { done: 1_500, total: undefined, broken: 2 }, 3_000, "1,500 runs, 500/s, 2 broken"],
  [
    "half of the runs",
    { done: 5_000, total: 10_000, broken: 0 },
    20_000,
    `[${"#".repeat(12)}${"-".repeat(12)}] 5,000 of 10,000 runs, 250/s, 0 broken`,
  ],
  ["the end of the check", { done: 3, total: 3, broken: 1 }, 1_000, `[${"#".repeat(24)}] 3 of 3 runs, 3/s, 1 broken`],
  ["more runs than were counted", { done: 4, total: 3, broken: 0 }, 1_000, "4 runs, 4/s, 0 broken"],
  ["no run at all", { done: 0, total: 0, broken: 0 }, 5, `[${"#".repeat(24)}] 0 of 0 runs, 0/s, 0 broken`],
])("the progress line of nova verify shows %s", (_, progress, elapsedMs, text) => {
  expect(progressText(progress, elapsedMs)).toBe(text);
});
