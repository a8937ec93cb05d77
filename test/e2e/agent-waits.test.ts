import { readTrace, startExecution } from "@nova/engine";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { systemClock } from "../../packages/aws-local/src/clock.ts";
import { agentFlow, calling, toolNode } from "../support/agent.ts";
import { openTestCloud, type TestCloud, unoffered, verified } from "../support/cloud.ts";
import { type ModelServer, modelServer, retriedAtOnce } from "../support/model-server/model-server.ts";

const dayMs = 86_400_000;
let models: ModelServer;
let cloud: TestCloud;
/** The time by which the test has moved the clock of this process. */
let passedMs = 0;

beforeAll(async () => {
  const { now } = Date;
  vi.spyOn(Date, "now").mockImplementation(() => now() + passedMs);
  vi.spyOn(systemClock, "now").mockImplementation(() => Date.now());
  const { sleep } = systemClock;
  // Long waits check the clock at this interval. A shorter interval makes them notice soon that the test has moved the
  // clock.
  const { maxNapMs } = systemClock;
  vi.spyOn(systemClock, "sleep").mockImplementation((ms, signal) => sleep(ms === maxNapMs ? 20 : ms, signal));
  models = await modelServer(({ toolResults: { length } }) => {
    if (length === 0) return { calls: [calling("look_up", {})] };
    return passedMs < dayMs ? retriedAtOnce(503) : { text: "there again" };
  });
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
  vi.restoreAllMocks();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
});

// Over HTTP, the SDK corrects its clock by the header `Date` of an answer, but the test moves only the clock of this
// process.
it.skipIf(process.env.NOVA_WIRE === "1")(
  "an agent whose model is unreachable for a day waits without using a sandbox or a Lambda, and then continues",
  async () => {
    const lookUp = toolNode("look_up", 'context["order"] = 7', {}, { effects: true });
    const version = await cloud.publish(agentFlow("waits", [lookUp]));
    const { id: execution } = await startExecution(cloud.ports, { version, context: '{"case": "x"}' });
    const position = { execution, scope: "", seq: 3 };
    for (let attempt = 1; passedMs < dayMs; attempt++) {
      const waiting = async () => (await cloud.ports.chain.read(position)).turn;
      await expect.poll(waiting, { timeout: 30_000 }).toMatchObject({ attempt, due: expect.any(String) });
      await expect.poll(() => cloud.isNeeded(), { timeout: 10_000 }).toBe(false);
      const waitMs = Date.parse((await waiting())?.due ?? "") - Date.now();
      if (waitMs > 60_000) expect(await unoffered(cloud)).toEqual([]);
      passedMs += waitMs;
    }
    await cloud.untilEnd(execution);
    const trace = await readTrace(cloud.ports, execution, { full: true });
    expect(trace.entries[3]).toMatchObject({ attempt: 20, sandbox_id: null });
    expect(trace.context.text).toBe('{"case":"x","resolve":"there again"}');
    expect(models.requests.at(-1)?.toolResults).toEqual(['{"order":7}']);
    expect(await verified(cloud, trace)).toBe("anchored");
  },
  120_000,
);
