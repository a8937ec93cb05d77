import { StoreUnavailable } from "@nova/engine";
import type { RateStore, Rates } from "@nova/service";
import { createRates } from "@nova/service/adapters";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../support/engine/clock.ts";
import { atOnce } from "../../support/engine/scheduler.ts";

const limit = 100;

/** Counts the requests of each API key and window in memory. */
class Counts implements RateStore {
  readonly #taken = new Map<string, number>();
  asked = 0;
  isDown = false;

  async add({ id }: { id: string }, { beginsAt }: { beginsAt: number }, count: number, most: number): Promise<boolean> {
    this.asked++;
    if (this.isDown) throw new StoreUnavailable("DynamoDB did not answer in time");
    const key = `${id}#${beginsAt}`;
    const taken = (this.#taken.get(key) ?? 0) + count;
    if (taken > most) return false;
    this.#taken.set(key, taken);
    return true;
  }
}

function world() {
  const [store, clock] = [new Counts(), new VirtualClock()];
  return { store, clock, process: () => createRates({ rateStore: store, clock: clock.port(atOnce) }, limit) };
}

async function allowed(rates: Rates, times: number, key = "key_1"): Promise<number> {
  const asked = await Promise.allSettled(Array.from({ length: times }, () => rates.take({ id: key, client: null })));
  return asked.filter(({ status }) => status === "fulfilled").length;
}

describe("the rate limit of an API key", () => {
  it("is enforced without access to the table while a process gets few requests", async () => {
    const { store, process } = world();
    expect([await allowed(process(), 5), store.asked]).toEqual([5, 0]);
  });

  it("is enforced by a single process that reserves a few requests at a time in the table", async () => {
    const { store, process } = world();
    expect(await allowed(process(), 400)).toBe(limit + 5);
    expect(store.asked).toBe(21);
  });

  it("is enforced for many processes together, except for the first few requests of each process", async () => {
    const { process } = world();
    const processes = Array.from({ length: 8 }, process);
    const passed = await Promise.all(processes.map((one) => allowed(one, 60)));
    expect(passed.reduce((a, b) => a + b, 0)).toBe(limit + 8 * 5);
  });

  it("does not count the requests of other keys", async () => {
    const rates = world().process();
    expect([await allowed(rates, 400, "key_1"), await allowed(rates, 400, "key_2")]).toEqual([105, 105]);
  });

  it("counts from zero in every window, and the error says when the next window starts", async () => {
    const { clock, process } = world();
    const rates = process();
    await allowed(rates, 400);
    clock.advance(2_500);
    await expect(rates.take({ id: "key_1", client: null })).rejects.toMatchObject({
      name: "TooMany",
      retryAfterSeconds: 8,
      message: "this key has sent 100 requests in 10 seconds, which is the limit - try again in 8 seconds",
    });
    clock.advance(7_500);
    expect(await allowed(rates, 20)).toBe(20);
  });

  it("rejects no request if the table does not answer", async () => {
    const { store, process } = world();
    store.isDown = true;
    expect(await allowed(process(), 300)).toBe(300);
  });
});
