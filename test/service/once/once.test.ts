import { Conflict, once, Refused } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryAttempts } from "../support/stores.ts";

const start = Date.parse("2026-01-01T00:00:00Z");
const hourMs = 3_600_000;
let attempts: MemoryAttempts;
let now: number;
let made: string[];

beforeEach(() => {
  attempts = new MemoryAttempts();
  now = start;
  made = [];
});

const ports = () => ({ attempts, clock: { now: () => now, sleep: async () => undefined } });
const request = (asked = "this", principal = "key_1") => ({ principal, client: null, key: "k", asked });

async function make(ulid: string): Promise<{ id: string }> {
  made.push(ulid);
  return { id: ulid };
}

async function dies(ulid: string): Promise<never> {
  made.push(ulid);
  return new Promise(() => undefined);
}

describe("an idempotent request", () => {
  it("is carried out every time if it has no Idempotency-Key", async () => {
    await once(ports(), undefined, make);
    await once(ports(), undefined, make);
    expect(new Set(made).size).toBe(2);
    expect(attempts.kept.size).toBe(0);
  });

  it("is carried out once, and each repetition gets the result of the first request", async () => {
    const first = await once(ports(), request(), make);
    expect(await once(ports(), request(), make)).toEqual(first);
    expect(made).toHaveLength(1);
  });

  it("is refused if its Idempotency-Key was used for a different request, but is carried out with another key", async () => {
    await once(ports(), request(), make);
    await expect(once(ports(), request("that"), make)).rejects.toThrow(Refused);
    await once(ports(), request("this", "key_2"), make);
    expect(made).toHaveLength(2);
  });

  it("gets a conflict error while an earlier request with its Idempotency-Key is in progress", async () => {
    void once(ports(), request(), dies);
    await Promise.resolve();
    now += 34_000;
    await expect(once(ports(), request(), make)).rejects.toThrow(Conflict);
    expect(made).toHaveLength(1);
  });

  it("continues the attempt of a crashed process with the id that this attempt reserved", async () => {
    void once(ports(), request(), dies);
    await Promise.resolve();
    now += 36_000;
    const both = await Promise.allSettled([once(ports(), request(), make), once(ports(), request(), make)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(made).toHaveLength(2);
    expect(made[1]).toBe(made[0]);
  });

  it.each([
    ["within that time is refused", 124_000, "rejected"],
    ["after that time continues the attempt", 126_000, "fulfilled"],
  ])(
    "from a caller that may run for two minutes can be repeated after this time: a repetition %s",
    async (_what, passedMs, expected) => {
      const long = { ...request(), livesMs: 120_000 };
      void once(ports(), long, dies);
      await Promise.resolve();
      now += passedMs;
      const [second] = await Promise.allSettled([once(ports(), long, make)]);
      expect(second?.status).toBe(expected);
    },
  );

  it("can be retried immediately after a failure, with the id that the first attempt reserved", async () => {
    const failing = async (ulid: string) => {
      made.push(ulid);
      throw new RangeError("the store is away");
    };
    await expect(once(ports(), request(), failing)).rejects.toThrow("the store is away");
    await once(ports(), request(), make);
    expect(made[1]).toBe(made[0]);
  });

  it("fails with its first error even if the record of its attempt was erased together with the client", async () => {
    const erased = async () => {
      attempts.kept.clear();
      throw new Conflict("the client is being erased");
    };
    await expect(once(ports(), request(), erased)).rejects.toThrow("the client is being erased");
    expect(attempts.kept.size).toBe(0);
  });

  it("is carried out a second time if it is repeated after a day", async () => {
    await once(ports(), request(), make);
    now += 23 * hourMs;
    await once(ports(), request(), make);
    expect(made).toHaveLength(1);
    now += 2 * hourMs;
    await once(ports(), request(), make);
    expect(made).toHaveLength(2);
  });

  it("is carried out once, even if it has no result", async () => {
    expect(await once(ports(), request(), async () => undefined)).toBeUndefined();
    expect(await once(ports(), request(), make)).toBeNull();
  });

  it("is stored without its Idempotency-Key and its contents in clear text", async () => {
    await once(ports(), { principal: "key_1", client: null, key: "invoice 17", asked: '{"total": 850.0}' }, make);
    expect(JSON.stringify([...attempts.kept])).not.toMatch(/invoice|850/);
  });
});
