import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Capacity } from "../../../packages/aws-local/src/states/capacity.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/**
 * Creates a capacity that lets two lines work at the same time. A line is a sequence of states, such as a branch.
 * `idleShare` is the share of the time for which the processors of the machine are idle.
 */
function opened(idleShare: number) {
  const capacity = new Capacity<number>(2, () => ({ idleMs: Date.now() * idleShare, allMs: Date.now() }));
  const begun: number[] = [];
  const enterAt = (line: number, owner: string, work: number) => {
    const place = { owner, work: `work ${work}`, since: work };
    (capacity.enter(line, place) ?? Promise.resolve()).then(() => begun.push(line));
  };
  /**
   * Lets each of these lines ask whether it may work. All lines have the same owner, but each line belongs to a
   * different execution.
   */
  const enter = (...all: number[]) => {
    for (const one of all) enterAt(one, "acme", one);
  };
  const begunAfter = (ms: number) => vi.advanceTimersByTimeAsync(ms).then(() => begun);
  return {
    enter,
    enterAt,
    hold: (startsExecution = false) => capacity.hold({ startsExecution }),
    leave: (one: number) => capacity.leave(one),
    begunAfter,
  };
}

it("a branch of an execution starts at once if fewer branches run than allowed, and waiting branches of the oldest execution start first", async () => {
  const { enter, leave, begunAfter } = opened(0);
  enter(1, 2, 9, 5, 7);
  expect(await begunAfter(0)).toEqual([1, 2]);
  leave(1);
  leave(1);
  expect(await begunAfter(0)).toEqual([1, 2, 5]);
});

it("each check that finds idle processors starts twice as many waiting branches of executions as the previous check", async () => {
  const { enter, begunAfter } = opened(0.5);
  enter(1, 2, 3, 4, 5, 6, 7, 8, 9);
  expect(await begunAfter(60)).toEqual([1, 2, 3]);
  expect(await begunAfter(50)).toEqual([1, 2, 3, 4, 5]);
  expect(await begunAfter(50)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("no branch of an execution starts before the API requests have ended, and then only as many branches start as may run at the same time", async () => {
  const { enter, hold, begunAfter } = opened(0.5);
  const [first, second] = [hold(), hold()];
  enter(1, 2, 3);
  first();
  expect(await begunAfter(200)).toEqual([]);
  second();
  expect(await begunAfter(0)).toEqual([1, 2]);
});

it("an API request delays the start of branches of executions by at most a second and a half", async () => {
  const { enter, hold, begunAfter } = opened(0.5);
  hold();
  enter(1, 2);
  expect(await begunAfter(1_400)).toEqual([]);
  expect(await begunAfter(300)).toEqual([1, 2]);
});

describe("waiting branches, during a burst of requests to start executions,", () => {
  it("start when no request to start an execution has arrived for a moment", async () => {
    const { enter, hold, begunAfter } = opened(0);
    const first = hold(true);
    enter(1, 2, 3);
    first();
    expect(await begunAfter(20)).toEqual([]);
    const second = hold(true);
    expect(await begunAfter(20)).toEqual([]);
    second();
    expect(await begunAfter(24)).toEqual([]);
    expect(await begunAfter(1)).toEqual([1, 2]);
  });

  it("start at once if there is room for all of them", async () => {
    const { enter, hold, begunAfter } = opened(0);
    const end = hold(true);
    enter(1, 2);
    end();
    expect(await begunAfter(0)).toEqual([1, 2]);
  });

  it("start at once after a request that only reads", async () => {
    const { enter, hold, begunAfter } = opened(0);
    const end = hold();
    enter(1, 2, 3);
    end();
    expect(await begunAfter(0)).toEqual([1, 2]);
  });

  it.each([
    { requestMs: 0, gapMs: 20 },
    { requestMs: 40, gapMs: 3 },
    { requestMs: 300, gapMs: 10 },
  ])(
    "start after 1.5 seconds if the burst continues, with $requestMs ms per request and gaps of $gapMs ms",
    async ({ requestMs, gapMs }) => {
      const { enter, hold, begunAfter } = opened(0);
      const request = async () => {
        const end = hold(true);
        await begunAfter(requestMs);
        end();
        return begunAfter(gapMs);
      };
      const end = hold(true);
      enter(1, 2, 3, 4, 5);
      end();
      let ms = 0;
      for (; ms < 1_480 - requestMs - gapMs; ms += requestMs + gapMs) expect(await request()).toEqual([]);
      for (; ms < 1_800; ms += requestMs + gapMs) await request();
      expect(await begunAfter(0)).toEqual([1, 2]);
      for (; ms < 3_800; ms += requestMs + gapMs) await request();
      expect(await begunAfter(0)).toEqual([1, 2, 3, 4]);
    },
  );
});

it("a request that ends its hold on branches twice does not end the hold of another request", async () => {
  const { enter, hold, begunAfter } = opened(0);
  const [first, second] = [hold(), hold()];
  enter(1);
  first();
  first();
  expect(await begunAfter(0)).toEqual([]);
  second();
  expect(await begunAfter(0)).toEqual([1]);
});

it("a waiting branch of an execution starts if a running branch works for a long time", async () => {
  const { enter, begunAfter } = opened(0);
  enter(1, 2, 3, 4);
  expect(await begunAfter(1_900)).toEqual([1, 2]);
  expect(await begunAfter(200)).toEqual([1, 2, 3, 4]);
});

it("a waiting branch does not keep other branches from starting after its execution was stopped", async () => {
  const { enter, leave, begunAfter } = opened(0);
  enter(1, 2, 3, 4);
  leave(3);
  expect(await begunAfter(0)).toEqual([1, 2, 3]);
  leave(1);
  expect(await begunAfter(0)).toEqual([1, 2, 3, 4]);
  expect(vi.getTimerCount()).toBe(2);
});

it("branches of executions of different owners start alternately, even if one owner has more and older executions", async () => {
  const { enterAt, leave, begunAfter } = opened(0);
  for (const line of [1, 2, 3, 4, 5, 6]) enterAt(line, "acme", line);
  for (const line of [11, 12]) enterAt(line, "other", line);
  leave(1);
  expect(await begunAfter(0)).toEqual([1, 2, 11]);
  leave(2);
  leave(11);
  expect(await begunAfter(0)).toEqual([1, 2, 11, 3, 12]);
});

it("the only branch of an execution starts before the waiting branches of an older execution of the same owner", async () => {
  const { enterAt, leave, begunAfter } = opened(0);
  for (const line of [1, 2, 3, 4, 5, 6]) enterAt(line, "acme", 1);
  enterAt(7, "acme", 7);
  leave(1);
  expect(await begunAfter(0)).toEqual([1, 2, 7]);
  leave(7);
  leave(2);
  expect(await begunAfter(0)).toEqual([1, 2, 7, 3, 4]);
});
