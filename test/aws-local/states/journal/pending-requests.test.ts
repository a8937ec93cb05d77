import { describe, expect, it } from "vitest";
import { PendingRequests } from "../../../../packages/aws-local/src/states/journal/pending-requests.ts";

/** Returns the pending requests of an execution. They are time limits that end after one, two and nine seconds. */
function limited() {
  const pending = new PendingRequests(() => undefined);
  const overs = [1_000, 2_000, 9_000].map((dueMs) => {
    const over = new AbortController().signal;
    pending.request({ kind: "deadline", dueMs }, over);
    return over;
  });
  return { pending, first: overs[0] as AbortSignal };
}

describe("the time limit of a Lambda function, while the function waits on a busy machine,", () => {
  it("is paused and later postponed by the length of the wait, while other time limits continue", () => {
    const { pending, first } = limited();
    const continueTime = pending.standStill(first);
    expect([pending.dueMs, pending.dueBy(5_000)]).toEqual([2_000, [2]]);
    continueTime(4_500);
    expect([pending.dueMs, pending.dueBy(5_000), pending.dueBy(5_500)]).toEqual([2_000, [2], [2, 1]]);
  });

  it("is paused like all time limits of its execution if the execution does nothing else", () => {
    const { pending } = limited();
    const continueTime = pending.standStill();
    expect([pending.dueMs, pending.dueBy(60_000)]).toEqual([null, []]);
    continueTime(60_000);
    expect([pending.dueMs, pending.dueBy(61_000)]).toEqual([61_000, [1]]);
  });
});
