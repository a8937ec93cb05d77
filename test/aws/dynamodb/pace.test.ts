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
  const waits = await Promise.all(Array.from({ length: 4 }, ask));
  expect(waits.sort((a, b) => a - b)).toEqual([0, 525, 1050, 1575]);
  expect(clock.sleep.mock.calls.flat().sort()).toEqual([1050, 1575, 525]);
  clock.time += 2_000;
  expect(await ask()).toBe(100);
  clock.time += 60_000;
  expect(await ask()).toBe(0);
});

test("whoever would have to wait for too long is told so, and takes nobody's place", async () => {
  const { ask, clock } = processes(0.05, start + 3_600_000);
  expect([await ask(), await ask()]).toEqual([0, 21_000]);
  for (const _ of "ab") await expect(ask()).rejects.toThrow(/^too many runs wait for a new sandbox - try again later/);
  clock.time += 20_000;
  expect(await ask()).toBe(22_000);
});

test("an answer that is lost costs a place, and nobody has the same one", async () => {
  const { ask } = processes(1, start + 7_200_000);
  table.faults = failing(1, "lost");
  const waits = [await ask(), await ask()];
  expect(waits[1]).toBeGreaterThan(waits[0] as number);
});
