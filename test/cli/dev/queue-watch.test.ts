import type { Execution } from "@nova/engine";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchQueue } from "../../../packages/cli/src/dev/reporter.ts";

let told: string[];
let open: Record<string, Execution["status"]>;
let watch: ReturnType<typeof watchQueue>;
let failure: Error | undefined;

beforeEach(() => {
  told = [];
  open = {};
  const executions = {
    async *open() {
      if (failure) throw failure;
      for (const [id, status] of Object.entries(open)) yield { id, status, workflowId: "pay" } as Execution;
    },
  };
  watch = watchQueue(executions, {
    queued: ({ execution, workflow }) => void told.push(`${execution} of ${workflow} waits`),
    started: ({ execution }) => void told.push(`${execution} begins`),
  });
});

describe("a queued run in the output of nova dev", () => {
  it("is reported once as queued, and once as started", async () => {
    open = { one: "queued", two: "running" };
    await watch.look();
    await watch.look();
    expect(told).toEqual(["one of pay waits"]);
    watch.noteStart("one");
    watch.noteStart("one");
    await watch.look();
    expect(told).toEqual(["one of pay waits", "one begins"]);
  });

  it("is reported as started if a later read of the queue finds it running", async () => {
    open = { one: "queued" };
    await watch.look();
    open = { one: "waiting" };
    await watch.look();
    expect(told).toEqual(["one of pay waits", "one begins"]);
  });

  it("is not reported as queued after its start was reported, even if a later read finds it queued", async () => {
    watch.noteStart("one");
    open = { one: "queued" };
    await watch.look();
    expect(told).toEqual([]);
  });

  it("is not reported as started after it was cancelled", async () => {
    open = { one: "queued" };
    await watch.look();
    open = {};
    await watch.look();
    watch.noteStart("one");
    expect(told).toEqual(["one of pay waits"]);
  });
});

describe("the part of nova dev that watches the queue of runs", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("reads the queue at once, and then every second until nova dev stops it", async () => {
    const watching = watch.watch((error) => expect.unreachable(String(error)));
    open = { one: "queued" };
    await vi.advanceTimersByTimeAsync(1);
    open = { one: "running" };
    await vi.advanceTimersByTimeAsync(990);
    expect(told).toEqual(["one of pay waits"]);
    await vi.advanceTimersByTimeAsync(20);
    expect(told).toEqual(["one of pay waits", "one begins"]);
    watching[Symbol.dispose]();
    open = { two: "queued" };
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toHaveLength(2);
  });

  it("reads the queue again after a failed read", async () => {
    failure = new Error("no table");
    open = { one: "queued" };
    const failures: unknown[] = [];
    using _ = watch.watch((error) => {
      failures.push(error);
      failure = undefined;
    });
    await vi.advanceTimersByTimeAsync(990);
    expect([failures.length, told]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync(20);
    expect([failures.length, told]).toEqual([1, ["one of pay waits"]]);
  });
});
