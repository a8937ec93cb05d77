import { describe, expect, it, vi } from "vitest";
import { lambda } from "../../functions/lambda.ts";

vi.mock("../../functions/app.ts", () => ({ logger: { warn: vi.fn() }, warmPorts: () => "the ports" }));

const context = (remainingMs: number) => ({ awsRequestId: "r-1", getRemainingTimeInMillis: () => remainingMs });

describe("the wrapper of a handler", () => {
  it("passes the ports of the process and returns the handler's answer", async () => {
    const handler = lambda(async (ports, event: { n: number }) => ({ ports, n: event.n + 1 }));
    expect(await handler({ n: 1 }, context(900_000))).toEqual({ ports: "the ports", n: 2 });
  });

  it("aborts its signal ten seconds before the Lambda's timeout", async () => {
    vi.useFakeTimers();
    try {
      const handler = lambda(async (_ports, _event: object, signal) => {
        const before = signal.aborted;
        await vi.advanceTimersByTimeAsync(50_000 - 1);
        const almost = signal.aborted;
        await vi.advanceTimersByTimeAsync(1);
        return [before, almost, signal.aborted];
      });
      expect(await handler({}, context(60_000))).toEqual([false, false, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("keeps the name of an error, which Retry and Catch match", async () => {
    const failure = Object.assign(new RangeError("no sandbox"), { name: "SandboxUnavailable" });
    const handler = lambda(async () => Promise.reject(failure));
    await expect(handler({}, context(900_000))).rejects.toMatchObject({ name: "SandboxUnavailable" });
  });
});
