import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CheckStopped, DeadlineWorker } from "../../../packages/workflow/src/deadline/deadline-worker.ts";
import { address } from "./support/served.ts";

/** Creates a worker whose deadline the test triggers. */
function worker() {
  const timers: (() => void)[] = [];
  let onTimer: () => void = () => undefined;
  vi.stubGlobal("setTimeout", (expire: () => void) => {
    timers.push(expire);
    onTimer();
  });
  const thread = new DeadlineWorker({ name: "served", address: async () => address, deadlineMs: 5000 });
  const nextTimer = () => new Promise<void>((resolve) => (onTimer = resolve));
  return { thread, timers, nextTimer };
}

afterEach(() => vi.unstubAllGlobals());

describe("the call of a function in a DeadlineWorker", () => {
  it("runs in the same thread as the previous call", async () => {
    const { thread } = worker();
    expect(await thread.call("again", "one")).toBe("one");
    expect(await thread.call("again", "two")).toBe("two");
  });

  it("is stopped at its deadline without blocking the event loop, and the next call returns its result", async () => {
    const { thread, timers, nextTimer } = worker();
    const started = nextTimer();
    const endless = thread.call("forever");
    await started;
    timers[0]?.();
    await expect(endless).rejects.toThrow(new CheckStopped("takes more than 5 seconds"));
    expect(await thread.call("again", "next")).toBe("next");
  });

  it("has a deadline that starts only when the previous call has ended", async () => {
    const { thread, timers, nextTimer } = worker();
    const started = nextTimer();
    const endless = thread.call("forever");
    const waiting = thread.call("again", "waiting");
    await started;
    expect(timers).toHaveLength(1);
    timers[0]?.();
    await expect(endless).rejects.toThrow(CheckStopped);
    expect(await waiting).toBe("waiting");
    expect(timers).toHaveLength(2);
  });

  it("fails with a message about its depth if it overflows the stack, and the next call returns its result", async () => {
    const { thread } = worker();
    await expect(thread.call("tooDeep", 0)).rejects.toThrow(new CheckStopped("goes too many levels deep"));
    expect(await thread.call("again", "next")).toBe("next");
  });

  it("fails with the error that the called function throws", async () => {
    const fault = { name: "TypeError", message: "this is a fault of the code" };
    await expect(worker().thread.call("broken")).rejects.toMatchObject(fault);
  });

  it("fails if the called module was not written for this worker", async () => {
    const thread = new DeadlineWorker({ name: "another", address: async () => address, deadlineMs: 5000 });
    await expect(thread.call("again", "one")).rejects.toThrow('the thread "another" ended: 0');
  });

  it("does not keep the process alive after it has returned", async () => {
    const script = `${import.meta.dirname}/support/asks-once.ts`;
    expect((await promisify(execFile)(process.execPath, [script], { timeout: 20_000 })).stdout).toBe("answered");
  });
});
