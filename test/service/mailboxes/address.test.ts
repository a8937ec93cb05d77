import { describe, expect, it } from "vitest";
import { isPaused, pauseAfter } from "../../../packages/service/src/mailboxes/poll.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

describe("the pause of a mailbox", () => {
  it.each([
    [1, 300, 0],
    [2, 300, 600],
    [3, 300, 1200],
    [4, 300, 2400],
    [20, 300, 21_600],
    [2_000, 300, 21_600],
    [2, 86_400, 21_600],
  ])("after %i failures of a poll every %i s lasts %i s", (failures, every, seconds) => {
    const pause = pauseAfter(failures, every, now);
    expect(pause).toEqual({ failures, until: new Date(now + seconds * 1000).toISOString() });
    expect(isPaused(pause, now)).toBe(seconds > 0);
    expect(isPaused(pause, now + seconds * 1000)).toBe(false);
  });

  it("is absent without a failure", () => {
    expect(isPaused(undefined, now)).toBe(false);
  });
});
