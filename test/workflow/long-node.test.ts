import { isLong, maxChecks, pauseSeconds } from "@nova/workflow";
import { expect, it } from "vitest";

it("isLong is true for a node whose code may run longer than a Lambda", () => {
  expect([60, 840, 840.5, 86_400].map((timeoutSeconds) => isLong({ timeoutSeconds }))).toEqual([
    ...[false, false, true, true],
  ]);
});

it.each([
  [0, 5],
  [50, 5],
  [60, 6],
  [600, 60],
  [3_000, 300],
  [80_000, 300],
])(
  "code with a timeout of a day that has run for %i seconds is checked after a pause of %i seconds",
  (elapsed, pause) => {
    expect(pauseSeconds(elapsed, 86_400)).toBe(pause);
  },
);

it.each([
  [6_000, 300],
  [6_950, 255],
  [7_200, 5],
  [7_230, 5],
])(
  "code with a timeout of 7,200 seconds that has run for %i seconds is checked after a pause of %i seconds",
  (elapsed, pause) => {
    expect(pauseSeconds(elapsed, 7_200)).toBe(pause);
  },
);

it("the checks of long code last until its timeout, and their events fit into a history of Step Functions", () => {
  expect(maxChecks({ timeoutSeconds: 4 })).toBe(14);
  expect(maxChecks({ timeoutSeconds: 86_400 })).toBeGreaterThan(86_400 / 300);
  expect(maxChecks({ timeoutSeconds: 86_400 }) * 9).toBeLessThan(25_000 / 5);
});
