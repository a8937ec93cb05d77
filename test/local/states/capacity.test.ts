import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Capacity } from "../../../packages/local/src/states/capacity.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Room for two, on a machine whose processors idle for this share of the time. */
function opened(idleShare: number) {
  const capacity = new Capacity(2, () => ({ idleMs: Date.now() * idleShare, allMs: Date.now() }));
  const begun: number[] = [];
  const enter = (since: number) => capacity.enter(since, () => begun.push(since));
  return { begun, enter };
}

it("begins at once where there is room, and the others when one leaves, the oldest first", async () => {
  const { begun, enter } = opened(0);
  const [first] = [enter(1), enter(2), enter(9), enter(5), enter(7)];
  expect(begun).toEqual([1, 2]);
  first?.();
  first?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([1, 2, 5]);
});

it("begins more while processors idle", async () => {
  const { begun, enter } = opened(0.5);
  for (const since of [1, 2, 3, 4]) enter(since);
  await vi.advanceTimersByTimeAsync(120);
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("keeps nobody waiting for what is at work for long", async () => {
  const { begun, enter } = opened(0);
  for (const since of [1, 2, 3, 4]) enter(since);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(begun).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(200);
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("takes no room for whoever has left before it was there", async () => {
  const { begun, enter } = opened(0);
  const [first, , third] = [enter(1), enter(2), enter(3), enter(4)];
  third?.();
  first?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([1, 2, 3, 4]);
  expect(vi.getTimerCount()).toBe(2);
});
