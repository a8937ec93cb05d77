import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Capacity } from "../../../packages/aws-local/src/states/capacity.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/**
 * A capacity that lets two lines of states work at the same time, on a machine whose processors are idle for this share
 * of the time. A line of states is a branch, for example.
 */
function opened(idleShare: number) {
  const capacity = new Capacity<number>(2, () => ({ idleMs: Date.now() * idleShare, allMs: Date.now() }));
  const begun: number[] = [];
  const enterAt = (line: number, owner: string, work: number) => {
    const place = { owner, work: `work ${work}`, since: work };
    (capacity.enter(line, place) ?? Promise.resolve()).then(() => begun.push(line));
  };
  /** Lets lines of states ask whether they may work. All have the same owner, and each is the only line of its work. */
  const enter = (...all: number[]) => {
    for (const one of all) enterAt(one, "acme", one);
  };
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms).then(() => begun);
  return { enter, enterAt, hold: () => capacity.hold(), leave: (one: number) => capacity.leave(one), after };
}

it("a branch of an execution starts at once if there is room; otherwise it waits, and the oldest execution's branch starts first", async () => {
  const { enter, leave, after } = opened(0);
  enter(1, 2, 9, 5, 7);
  expect(await after(0)).toEqual([1, 2]);
  leave(1);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 5]);
});

it("while processors are idle, each check starts twice as many waiting branches of executions as the previous check", async () => {
  const { enter, after } = opened(0.5);
  enter(1, 2, 3, 4, 5, 6, 7, 8, 9);
  expect(await after(60)).toEqual([1, 2, 3]);
  expect(await after(50)).toEqual([1, 2, 3, 4, 5]);
  expect(await after(50)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("no branch of an execution starts while an API request has priority; afterwards as many start as there is room for", async () => {
  const { enter, hold, after } = opened(0.5);
  const [first, second] = [hold(), hold()];
  enter(1, 2, 3);
  first();
  expect(await after(200)).toEqual([]);
  second();
  expect(await after(0)).toEqual([1, 2]);
});

it("an API request stops branches of executions from starting for at most a second and a half", async () => {
  const { enter, hold, after } = opened(0.5);
  hold();
  enter(1, 2);
  expect(await after(1_400)).toEqual([]);
  expect(await after(300)).toEqual([1, 2]);
});

it("a waiting branch of an execution starts if a running branch works for a long time", async () => {
  const { enter, after } = opened(0);
  enter(1, 2, 3, 4);
  expect(await after(1_900)).toEqual([1, 2]);
  expect(await after(200)).toEqual([1, 2, 3, 4]);
});

it("a branch of an execution that is stopped while it waits takes no room from other branches", async () => {
  const { enter, leave, after } = opened(0);
  enter(1, 2, 3, 4);
  leave(3);
  expect(await after(0)).toEqual([1, 2, 3]);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 3, 4]);
  expect(vi.getTimerCount()).toBe(2);
});

it("branches of executions of different owners start alternately, even if one owner has more and older executions", async () => {
  const { enterAt, leave, after } = opened(0);
  for (const line of [1, 2, 3, 4, 5, 6]) enterAt(line, "acme", line);
  for (const line of [11, 12]) enterAt(line, "other", line);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 11]);
  leave(2);
  leave(11);
  expect(await after(0)).toEqual([1, 2, 11, 3, 12]);
});

it("the only branch of an execution starts before the waiting branches of an older execution of the same owner", async () => {
  const { enterAt, leave, after } = opened(0);
  for (const line of [1, 2, 3, 4, 5, 6]) enterAt(line, "acme", 1);
  enterAt(7, "acme", 7);
  leave(1);
  expect(await after(0)).toEqual([1, 2, 7]);
  leave(7);
  leave(2);
  expect(await after(0)).toEqual([1, 2, 7, 3, 4]);
});
