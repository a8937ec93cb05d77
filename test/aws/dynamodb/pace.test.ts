import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createPace } from "../../../packages/aws/src/dynamodb/slots.ts";
import { failing, useTable } from "../support/endpoints.ts";

const table = useTable();
const start = Date.parse("2026-11-25T12:00:00Z");

/** Processes that share a clock, which moves only when the test moves it. */
function processes(perSecond: number, begin: number) {
  const clock = { time: begin, now: () => clock.time, sleep: vi.fn(async () => sleep(0)) };
  return { clock, ask: () => createPace(table, perSecond, clock)() };
}

test("all processes together create sandboxes at the rate of the plan", async () => {
  const { ask, clock } = processes(2, start);
  expect((await Promise.all(Array.from({ length: 3 }, ask))).sort()).toEqual([false, true, true]);
  expect(clock.sleep.mock.calls.flat().sort()).toEqual([1_000, 525]);
  clock.time += 1_000;
  expect(await ask()).toBe(true);
  expect(clock.sleep).toHaveBeenLastCalledWith(50);
  clock.time += 60_000;
  clock.sleep.mockClear();
  expect(await ask()).toBe(true);
  expect(clock.sleep).not.toHaveBeenCalled();
});

test("a process without a free time in the next second waits, and reserves none", async () => {
  const { ask, clock } = processes(0.05, start + 3_600_000);
  expect([await ask(), await ask()]).toEqual([true, true]);
  clock.sleep.mockClear();
  for (const _ of "ab") expect(await ask()).toBe(false);
  expect(clock.sleep.mock.calls.flat()).toEqual([1_000, 1_000]);
  clock.time += 21_000;
  expect(await ask()).toBe(true);
  expect(clock.sleep).toHaveBeenLastCalledWith(21_000);
});

test("a lost answer wastes a time, and no two processes get the same time", async () => {
  const { ask, clock } = processes(1, start + 7_200_000);
  table.faults = failing(1, "lost");
  expect([await ask(), await ask()]).toContain(true);
  expect(clock.sleep.mock.calls.flat().every((ms, at, all) => all.indexOf(ms) === at)).toBe(true);
});
