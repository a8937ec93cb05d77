import { createModels } from "@nova/agents";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import { type ModelAction, modelServer, retriedAtOnce } from "../../support/model-server/model-server.ts";

/** Timers that fire only when the test advances the clock. Timers of the network are real. */
interface OwnedClock extends Disposable {
  /** Returns the delays, in milliseconds, of all timers that the code has set so far. */
  delays(): number[];
  pass(milliseconds: number): Promise<void>;
  /** Waits until `happened` returns true, without advancing the clock, so that only the network makes progress. */
  until(happened: () => boolean): Promise<void>;
}

function ownTheClock(): OwnedClock {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [fake, delays] = [globalThis.setTimeout, [] as number[]];
  // Replaces `setTimeout` without a spy of Vitest. With a spy, a later test that restores all mocks would install the
  // fake timer again.
  const noted = (callback: () => void, milliseconds = 0, ...args: []) => {
    delays.push(milliseconds);
    return fake(callback, milliseconds, ...args);
  };
  globalThis.setTimeout = Object.assign(noted, fake);
  return {
    delays: () => delays,
    pass: async (milliseconds) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
    },
    async until(happened) {
      while (!happened()) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    [Symbol.dispose]() {
      globalThis.setTimeout = fake;
      vi.useRealTimers();
    },
  };
}

const code: ModelAction = { json: { code: "x" } };

/**
 * The SDK's pauses before retries in milliseconds, with average jitter. Jitter shortens a pause by at most a quarter.
 */
const pauses = [437.5, 875, 1750, 3500];
const firstPause = 437.5;

beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(["responses", "chat"] as const)("over the %s API,", (NOVA_LLM_API) => {
  it.each([429, 408, 409, 500, 502, 503])("a request that fails with status %i is sent again", async (status) => {
    await using server = await modelServer([{ answer: retriedAtOnce(status) }, { answer: code }]);
    const answer = await createModels({ ...server.environment, NOVA_LLM_API }).ask(modelCall());
    expect(answer).toMatchObject({ value: { code: "x" }, usage: { input: 1000 } });
  });

  it("a request that always fails is sent five times, and then causes an error", async () => {
    const answer = retriedAtOnce(503);
    await using server = await modelServer([{ answer }, { answer }, { answer }, { answer }, { answer }]);
    const error = await failureOf({ ...server.environment, NOVA_LLM_API });
    expect(error).toMatchObject({ reason: "unavailable", message: expect.stringContaining("after retries") });
  });

  it.each([400, 401, 403, 404, 422])("a request that fails with status %i is not sent again", async (status) => {
    await using server = await modelServer([{ answer: { status } }]);
    await failureOf({ ...server.environment, NOVA_LLM_API });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a slow provider", () => {
  it("is asked again after the pause that its Retry-After header names", async () => {
    await using server = await modelServer([
      { answer: { status: 429, headers: { "retry-after": "20" } } },
      { answer: code },
    ]);
    using clock = ownTheClock();
    const answer = createModels(server.environment).ask(modelCall());
    await clock.until(() => clock.delays().includes(20_000));
    await clock.pass(20_000);
    expect(await answer).toMatchObject({ value: { code: "x" } });
  });

  it("is asked again after a minute without any data", async () => {
    await using server = await modelServer([{ answer: { silent: true } }, { answer: code }]);
    using clock = ownTheClock();
    const answer = createModels(server.environment).ask(modelCall());
    await clock.until(() => server.requests.length === 1);
    await clock.pass(60_000);
    await clock.until(() => clock.delays().includes(firstPause));
    await clock.pass(firstPause);
    expect(await answer).toMatchObject({ value: { code: "x" } });
  });

  it.each([
    ["than the call allows", 30_000, 30],
    ["than 90 seconds, although the call allows more time", 600_000, 90],
  ])("causes an error if it is slower %s", async (_than, timeoutMs, seconds) => {
    await using server = await modelServer(() => ({ silent: true }));
    using clock = ownTheClock();
    const error = failureOf(server.environment, { timeoutMs });
    await clock.until(() => server.requests.length === 1);
    await clock.pass(seconds * 1000);
    expect(await error).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining(`gave no answer: none came within ${seconds} s`),
    });
  });
});

describe("a connection to a provider", () => {
  it.each(["before", "within"] as const)("that breaks %s an answer is opened again", async (dropped) => {
    await using server = await modelServer([{ answer: { dropped } }, { answer: code }]);
    using clock = ownTheClock();
    const answer = createModels(server.environment).ask(modelCall());
    await clock.until(() => clock.delays().includes(firstPause));
    await clock.pass(firstPause);
    expect(await answer).toMatchObject({ value: { code: "x" } });
  });

  it("that is refused is tried five times with growing pauses, and is then reported with advice", async () => {
    using clock = ownTheClock();
    const error = failureOf({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
    for (const pause of pauses) {
      await clock.until(() => clock.delays().includes(pause));
      await clock.pass(pause);
    }
    expect(await error).toMatchObject({
      reason: "unavailable",
      message:
        'model "gpt-6.1-terra" at 127.0.0.1:9 gave no answer: it cannot be reached; see OPENAI_BASE_URL and the network where nodes run (in the terminal of `nova dev`, if that is open)',
    });
  });
});

describe("a call of a model whose signal aborts", () => {
  const reason = new Error("this Lambda has to stop");

  it("sends no request if the signal aborted before the call", async () => {
    await using server = await modelServer([]);
    expect(await failureOf(server.environment, { signal: AbortSignal.abort(reason) })).toBe(reason);
  });

  it("ends with the signal's own reason while it waits for the answer", async () => {
    const stop = new AbortController();
    await using server = await modelServer(() => {
      stop.abort(reason);
      return { silent: true };
    });
    expect(await failureOf(server.environment, { signal: stop.signal })).toBe(reason);
  });

  it("ends with the signal's own reason during the pause between two requests", async () => {
    const stop = new AbortController();
    await using server = await modelServer(() => {
      setImmediate(() => setImmediate(() => stop.abort(reason)));
      return { status: 503, headers: { "retry-after": "50" } };
    });
    expect(await failureOf(server.environment, { signal: stop.signal })).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});
