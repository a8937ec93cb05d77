import { retryAfterSeconds } from "@nova/workflow";
import { expect, it } from "vitest";

const now = Date.parse("2026-11-28T07:00:00Z");

it.each([
  ["120", 120],
  [" 0 ", 0],
  ["9".repeat(50), 600],
  ["Sat, 28 Nov 2026 07:01:30 GMT", 90],
  ["Sat, 28 Nov 2026 06:59:00 GMT", 0],
  ["Sat, 28 Nov 2099 07:00:00 GMT", 600],
  ["Sat, 99 Nov 2026 07:00:00 GMT", 0],
  ["-5", 0],
  ["1.5", 0],
  ["2026-11-28", 0],
  ["", 0],
])("the header Retry-After %j means a wait of %d seconds", (header, seconds) => {
  expect(retryAfterSeconds(header, now, 600)).toBe(seconds);
});
