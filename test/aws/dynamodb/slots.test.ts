import { setTimeout as sleep } from "node:timers/promises";
import { createServiceStores } from "@nova/aws";
import type { SlotStore } from "@nova/service";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createPace } from "../../../packages/aws/src/dynamodb/slots.ts";
import { failing, useBucket, useTable } from "../support/endpoints.ts";

const table = useTable();
const bucket = useBucket();
let slots: SlotStore;

beforeAll(() => {
  slots = createServiceStores({ ...table, bucket }).slots;
});

describe("the slots of a pool", () => {
  test("never exceed the limit of the pool, even if many runs ask at the same time", async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => slots.take("W#a", `exec_${n}`, "1", 3)));
    expect(taken.filter(Boolean)).toHaveLength(3);
    expect(await slots.taken("W#a")).toHaveLength(3);
  });

  test("are taken once for each run, and a repeated request succeeds until another process takes over the slot of the run", async () => {
    expect(await slots.take("W#b", "exec_1", "2", 1)).toBe(true);
    expect(await slots.take("W#b", "exec_1", "3", 1)).toBe(true);
    expect(await slots.take("W#b", "exec_1", "2", 1)).toBe(false);
    expect(await slots.taken("W#b")).toEqual(["exec_1"]);
  });

  test("are released once, and only if the process that the request names has taken them", async () => {
    await slots.take("W#c", "exec_1", "2", 2);
    await slots.take("W#c", "exec_2", "2", 2);
    await slots.giveBack("W#c", "exec_1", { admission: "1" });
    expect(await slots.taken("W#c")).toHaveLength(2);
    await slots.giveBack("W#c", "exec_1", { admission: "2" });
    await slots.giveBack("W#c", "exec_1");
    await slots.giveBack("W#c", "exec_2");
    expect(await slots.taken("W#c")).toEqual([]);
    const taken = await Promise.all([3, 4, 5].map((n) => slots.take("W#c", `exec_${n}`, "3", 2)));
    expect(taken.filter(Boolean)).toHaveLength(2);
  });

  test.each(["take", "giveBack"] as const)(
    "are free again after they were given back, even if the response to %s is lost",
    async (what) => {
      const pool = `W#lost-${what}`;
      if (what === "giveBack") await slots.take(pool, "exec_1", "1", 1);
      table.faults = failing(1, "lost");
      if (what === "take") expect(await slots.take(pool, "exec_1", "1", 1)).toBe(true);
      else await slots.giveBack(pool, "exec_1");
      await slots.giveBack(pool, "exec_1");
      expect(await slots.take(pool, "exec_2", "1", 1)).toBe(true);
    },
  );

  test("are all free if the pool is unknown", async () => {
    await slots.giveBack("W#nothing", "exec_1");
    expect(await slots.taken("W#nothing")).toEqual([]);
  });
});

describe("the queue of a pool", () => {
  test("is read page by page in the order of arrival, with each run once", async () => {
    const ids = Array.from({ length: 60 }, (_, n) => `exec_${String(n).padStart(2, "0")}`);
    for (const execution of [...ids.slice(30), ...ids.slice(0, 31)])
      await slots.enqueue({ execution, pools: ["W#q", "C#acme"] });
    const waiting = await Array.fromAsync(slots.waiting("C#acme"));
    expect(waiting.map(({ execution }) => execution)).toEqual(ids);
    expect(waiting[0]?.pools).toEqual(["W#q", "C#acme"]);
  });

  test("no longer contains a run after a single call has removed the run from all queues", async () => {
    await slots.leave({ execution: "exec_00", pools: ["W#q", "C#acme"] });
    for (const pool of ["W#q", "C#acme"]) {
      const [first] = await Array.fromAsync(slots.waiting(pool));
      expect(first?.execution).toBe("exec_01");
    }
  });

  test("adds its pool to the list of pools only once, even if slots of the pool are already taken", async () => {
    await slots.take("W#q", "exec_01", "1", 1);
    expect(await Array.fromAsync(slots.pools())).toEqual(["C#acme", "W#q"]);
    expect(await slots.taken("W#q")).toEqual(["exec_01"]);
  });
});

describe("the order of waiting runs of all clients", () => {
  const ask = async (pool: string, client: string, execution: string) =>
    slots.enqueue({ execution, pools: [pool], rank: await slots.rank(pool, client) });
  const waiting = (pool: string) => Array.fromAsync(slots.waiting(pool));
  const order = async (pool: string) => (await waiting(pool)).map(({ execution }) => execution);
  const begin = async (pool: string, runs: number) => {
    const tickets = (await waiting(pool)).slice(0, runs);
    for (const ticket of tickets) {
      expect(await slots.take(pool, ticket.execution, "1", 9)).toBe(true);
      await slots.leave(ticket);
    }
    return tickets;
  };

  test("alternates between the clients, so that a client with many runs does not delay the other clients", async () => {
    await slots.enqueue({ execution: "exec_before", pools: ["S"] });
    for (const run of ["exec_a1", "exec_a2", "exec_a3"]) await ask("S", "a", run);
    await ask("S", "b", "exec_b1");
    expect(await order("S")).toEqual(["exec_a1", "exec_b1", "exec_a2", "exec_a3", "exec_before"]);
    for (const { execution, rank } of (await begin("S", 3)).reverse()) await slots.giveBack("S", execution, { rank });
    expect(await slots.taken("S")).toEqual([]);
    await ask("S", "c", "exec_c1");
    await ask("S", "b", "exec_b2");
    await ask("S", "c", "exec_c2");
    expect(await order("S")).toEqual(["exec_a3", "exec_b2", "exec_c1", "exec_c2", "exec_before"]);
  });

  test("begins with runs of clients that have no slots yet", async () => {
    for (const run of ["exec_a1", "exec_a2", "exec_a3", "exec_a4"]) await ask("free", "a", run);
    await begin("free", 3);
    for (const run of ["exec_b1", "exec_b2", "exec_b3"]) await ask("free", "b", run);
    expect(await order("free")).toEqual(["exec_b1", "exec_b2", "exec_b3", "exec_a4"]);
  });

  test("gives each run a different rank, even if several runs arrive at the same time", async () => {
    for (const run of ["exec_a1", "exec_a2", "exec_a3"]) await ask("together", "a", run);
    for (const { execution, rank } of await begin("together", 3)) await slots.giveBack("together", execution, { rank });
    const ranks = await Promise.all(Array.from({ length: 4 }, () => slots.rank("together", "b")));
    expect(ranks.map(Number).sort()).toEqual([4, 5, 6, 7]);
  });
});

const start = Date.parse("2026-11-25T12:00:00Z");

/**
 * Returns a clock, and the function `ask`. Each call of `ask` is one process that asks whether it may create a sandbox.
 * The clock advances only if the test advances it.
 */
function processes(perSecond: number, begin: number) {
  const clock = { time: begin, now: () => clock.time, sleep: vi.fn(async () => sleep(0)) };
  return { clock, ask: () => createPace(table, perSecond, clock)() };
}

test("all processes together create no more sandboxes in a second than the plan of E2B allows", async () => {
  const { ask, clock } = processes(2, start);
  expect((await Promise.all(Array.from({ length: 3 }, ask))).sort()).toEqual([false, true, true]);
  expect(clock.sleep.mock.calls.flat().sort()).toEqual([1_000, 525]);
  clock.time += 1_000;
  expect(await ask()).toBe(true);
  expect(clock.sleep).toHaveBeenLastCalledWith(50);
  clock.time += 60_000;
  clock.sleep.mockClear();
  expect(await ask()).toBe(true);
  expect(clock.sleep).not.toHaveBeenCalled();
});

test("a process that may create no sandbox in the next second waits for a second and reserves no time", async () => {
  const { ask, clock } = processes(0.05, start + 3_600_000);
  expect([await ask(), await ask()]).toEqual([true, true]);
  clock.sleep.mockClear();
  for (const _ of "ab") expect(await ask()).toBe(false);
  expect(clock.sleep.mock.calls.flat()).toEqual([1_000, 1_000]);
  clock.time += 21_000;
  expect(await ask()).toBe(true);
  expect(clock.sleep).toHaveBeenLastCalledWith(21_000);
});

test("a reserved time for a new sandbox stays unused if the response is lost, but two processes never get the same time", async () => {
  const { ask, clock } = processes(1, start + 7_200_000);
  table.faults = failing(1, "lost");
  expect([await ask(), await ask()]).toContain(true);
  expect(clock.sleep.mock.calls.flat().every((ms, at, all) => all.indexOf(ms) === at)).toBe(true);
});
