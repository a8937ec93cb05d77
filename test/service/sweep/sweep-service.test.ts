import { sweepService } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { SweepWorld, type SweptPart } from "../support/sweep-world.ts";

let world: SweepWorld;
beforeEach(() => {
  world = new SweepWorld();
});

const behindRuns = ["tasks", "queues", "sandboxes", "publications", "triggers", "erasures"];
const described = () => world.log.filter((line) => line.startsWith("describe")).length;
/** Returns the milliseconds until the timeout of a Lambda that started together with the sweep. */
const lasting = (ms: number) => {
  const end = world.now + ms;
  return () => end - world.now;
};

describe("a sweep", () => {
  it("calls DescribeExecution only for runs that are missing in the list of running executions", async () => {
    for (let n = 0; n < 2_000; n++) {
      world.record(`exec_${n}`, { workflowId: n % 2 ? "greet" : "bill", stateMachineArn: `arn:${n % 2}` });
      world.running.add(`exec_${n}`);
    }
    await sweepService(world.ports());
    expect(world.log).toEqual(["runs", "list arn:0", "list arn:1", ...behindRuns]);
  });

  it("spends at most half of its time on the runs, so that time remains for every later part", async () => {
    for (let n = 0; n < 100; n++) world.record(`exec_${n}`);
    world.describeMs = 1_000;
    const swept = await sweepService(world.ports(), { leftMs: lasting(60_000) });
    expect(described()).toBe(30);
    expect(world.log.slice(-6)).toEqual(behindRuns);
    expect(swept.broken).toEqual([]);
  });

  it("is not limited in time if its caller gives no limit", async () => {
    for (let n = 0; n < 100; n++) world.record(`exec_${n}`);
    world.describeMs = 60_000;
    await sweepService(world.ports());
    expect(described()).toBe(100);
  });

  it("stops when its abort signal is set", async () => {
    world.record("exec_1");
    const swept = await sweepService(world.ports(), { signal: AbortSignal.abort() });
    expect(world.log).toEqual([]);
    expect(swept).toMatchObject({ closed: [], tasks: { sent: [], expired: [] }, queued: 0, broken: [] });
  });

  it.each<[SweptPart, string[]]>([
    // The part `queues` also reads the list of runs, so that both parts fail.
    ["runs", ["runs", "queues"]],
    ["tasks", ["tasks"]],
    ["queues", ["queues"]],
    ["sandboxes", ["sandboxes"]],
    ["publications", ["publications"]],
    ["triggers", ["triggers"]],
    ["erasures", ["erasures"]],
  ])("continues if it cannot read the %s, and reports the parts that failed", async (part, broken) => {
    world.away.add(part);
    const swept = await sweepService(world.ports());
    for (const other of behindRuns.filter((name) => !broken.includes(name))) expect(world.log).toContain(other);
    expect(swept.broken).toEqual(broken.map((name) => ({ part: name, error: new TypeError(`${part} are away`) })));
  });
});
