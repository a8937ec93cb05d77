import type { Execution } from "@nova/engine";
import { beforeEach, expect, it, vi } from "vitest";
import { logger } from "../../functions/app.ts";
import { handler } from "../../functions/retain.ts";

const world = vi.hoisted(() => ({ now: 0, erased: [] as string[], ports: {} as object }));

vi.mock("../../functions/app.ts", () => ({ logger: { warn: vi.fn(), error: vi.fn() } }));
vi.mock("../../functions/service-app.ts", () => ({ warmServicePorts: () => world.ports }));

const minuteMs = 60_000;
const context = (minutes: number) => ({ awsRequestId: "r-1", getRemainingTimeInMillis: () => minutes * minuteMs });

/** Creates a client with forty expired runs. The erasure of a run takes a minute, and the erasure of one run fails. */
beforeEach(() => {
  vi.mocked(logger.error).mockClear();
  Object.assign(world, { now: Date.parse("2026-01-01T00:00:00Z"), erased: [] });
  const at = (day: number) => new Date(Date.parse("2025-01-01T00:00:00Z") + day).toISOString();
  const items = Array.from({ length: 40 }, (_, index) => {
    const times = { startedAt: at(index), endedAt: at(index + 1) };
    return { id: `exec_${index}`, root: `exec_${index}`, client: "acme", open: false, ...times } as Execution;
  });
  world.ports = {
    clock: { now: () => world.now },
    clients: { list: async () => [{ slug: "acme", quotas: { retentionDays: 1 } }], update: async () => true },
    sessions: {
      expired: async function* () {
        yield { id: "ses_1", client: "acme" };
      },
      get: async () => undefined,
      remove: async () => undefined,
    },
    workflows: { latest: async () => undefined },
    executions: { list: async () => ({ items }), get: async () => undefined, update: async () => undefined },
    chain: { putNote: async () => true },
    keyPair: { sign: async () => "signed" },
    eraser: {
      contents: async ({ execution }: { execution: string }) => {
        world.now += minuteMs;
        if (execution === "exec_3") throw new Error("its scope does not end");
        world.erased.push(execution);
        return [];
      },
      traces: async () => undefined,
      blobs: async () => undefined,
    },
  };
});

it("the retention function starts no erasure in its last minute, so that it ends in time", async () => {
  expect(await handler({}, context(15))).toEqual({ erased: 13, failed: 1, sessions: 1 });
  expect(world.erased).not.toContain("exec_14");
});

it("the retention function logs the runs that it cannot erase", async () => {
  expect(await handler({}, context(60))).toEqual({ erased: 39, failed: 1, sessions: 1 });
  const first = [{ id: "exec_3", reason: "Error: its scope does not end" }];
  expect(logger.error).toHaveBeenCalledExactlyOnceWith("runs that cannot be erased", {
    erased: 39,
    failed: 1,
    sessions: 1,
    first,
  });
});
