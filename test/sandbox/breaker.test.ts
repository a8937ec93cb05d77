import { describe, expect, test } from "vitest";
import { Breaker } from "../../packages/sandbox/src/connections.ts";

const refused = Object.assign(new TypeError("fetch failed"), {
  cause: Object.assign(new RangeError("connect"), { code: "ECONNREFUSED" }),
});
const limited = Object.assign(new RangeError("429"), { name: "RateLimitError" });

function setUp() {
  const clock = { now: 0 };
  const breaker = new Breaker(() => clock.now);
  let calls = 0;
  const call = (error?: Error) =>
    breaker
      .guard(async () => {
        calls++;
        if (error) throw error;
        return "answer";
      })
      .catch(({ name }: Error) => name);
  const failTimes = async (times: number, error: Error) => {
    for (let n = 0; n < times; n++) await call(error);
  };
  return { clock, call, failTimes, calls: () => calls };
}

describe("the circuit breaker for calls of E2B", () => {
  test("opens for five seconds after five connection failures in a row", async () => {
    const { clock, call, failTimes, calls } = setUp();
    await failTimes(5, refused);
    expect([await call(), calls()]).toEqual(["SandboxUnavailable", 5]);
    clock.now = 5_000;
    expect([await call(), calls()]).toEqual(["answer", 6]);
  });

  test("opens a second time at the first failure after those five seconds", async () => {
    const { clock, call, failTimes, calls } = setUp();
    await failTimes(5, refused);
    clock.now = 5_000;
    await failTimes(1, refused);
    expect([await call(), calls()]).toEqual(["SandboxUnavailable", 6]);
  });

  test.each([
    ["a successful response", undefined],
    ["a response that refuses the call", limited],
  ])("counts failures from zero after %s", async (_, between) => {
    const { call, failTimes } = setUp();
    await failTimes(4, refused);
    await call(between);
    await failTimes(4, refused);
    expect(await call()).toBe("answer");
  });
});
