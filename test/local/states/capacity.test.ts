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
  const capacity = new Capacity<number>(2, () => ({ idleMs: Date.now() * idleShare, allMs: Date.now() }));
  const begun: number[] = [];
  const enter = (...all: number[]) => {
    for (const one of all) (capacity.enter(one, one) ?? Promise.resolve()).then(() => begun.push(one));
  };
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms).then(() => begun);
  return { enter, hold: () => capacity.hold(), leave: (one: number) => capacity.leave(one), after };
}

it("begins at once where there is room, and the others when one leaves, the oldest first", async () => {
  const { enter, leave, after } = opened(0);
  enter(1, 2, 9, 5, 7);
  expect(await after(0)).toEqual([1, 2]);
  leave(1);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 5]);
});

it("begins more while processors idle", async () => {
  const { enter, after } = opened(0.5);
  enter(1, 2, 3, 4);
  expect(await after(120)).toEqual([1, 2, 3, 4]);
});

it("begins nothing while somebody holds it back, and then all that there is room for", async () => {
  const { enter, hold, after } = opened(0.5);
  const [first, second] = [hold(), hold()];
  enter(1, 2, 3);
  first();
  expect(await after(200)).toEqual([]);
  second();
  expect(await after(0)).toEqual([1, 2]);
});

it("is held back for some seconds at most", async () => {
  const { enter, hold, after } = opened(0.5);
  hold();
  enter(1, 2);
  expect(await after(4_900)).toEqual([]);
  expect(await after(300)).toEqual([1, 2]);
});

it("keeps nobody waiting for what is at work for long", async () => {
  const { enter, after } = opened(0);
  enter(1, 2, 3, 4);
  expect(await after(1_900)).toEqual([1, 2]);
  expect(await after(200)).toEqual([1, 2, 3, 4]);
});

it("takes no room for whoever has left before it was there", async () => {
  const { enter, leave, after } = opened(0);
  enter(1, 2, 3, 4);
  leave(3);
  expect(await after(0)).toEqual([1, 2, 3]);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 3, 4]);
  expect(vi.getTimerCount()).toBe(2);
});
