import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createPace } from "../../../packages/aws/src/dynamodb/pace.ts";
import { failing, useTable } from "../support/endpoints.ts";

const table = useTable();
const start = Date.parse("2026-11-25T12:00:00Z");

/** Processes on one clock, which stands still unless it is told. */
function processes(perSecond: number, begin: number) {
  const clock = { time: begin, now: () => clock.time, sleep: vi.fn(async () => sleep(0)) };
  return { clock, ask: () => createPace(table, perSecond, clock)() };
}

test("sandboxes are made one after another, whoever makes them, as fast as the plan lets them be", async () => {
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

test("whoever has no turn in the next moment waits for one, and takes nobody's", async () => {
  const { ask, clock } = processes(0.05, start + 3_600_000);
  expect([await ask(), await ask()]).toEqual([true, true]);
  clock.sleep.mockClear();
  for (const _ of "ab") expect(await ask()).toBe(false);
  expect(clock.sleep.mock.calls.flat()).toEqual([1_000, 1_000]);
  clock.time += 21_000;
  expect(await ask()).toBe(true);
  expect(clock.sleep).toHaveBeenLastCalledWith(21_000);
});

test("an answer that is lost costs a turn, and nobody has the same one", async () => {
  const { ask, clock } = processes(1, start + 7_200_000);
  table.faults = failing(1, "lost");
  expect([await ask(), await ask()]).toContain(true);
  expect(clock.sleep.mock.calls.flat().every((ms, at, all) => all.indexOf(ms) === at)).toBe(true);
});
