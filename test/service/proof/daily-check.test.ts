import { type ServicePorts, verifySlice } from "@nova/service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";
import { withLeaf } from "../../support/forging/edits.ts";
import { type Item, RawTable } from "../../support/forging/raw-table.ts";

const day = 86_400_000;
let cloud: TestCloud;
let ids: string[];
let now = Date.parse("2026-11-28T23:50:00Z");
let broken: string[];

beforeAll(async () => {
  cloud = await openTestCloud();
  const version = await cloud.publish(inARow("checked", { one: 'context["a"] = 1' }));
  ids = [];
  for (let run = 0; run < 5; run++) ids.unshift((await cloud.run(version)).execution.id);
});
afterAll(() => cloud.close());
beforeEach(() => {
  broken = [];
  now += 2 * day;
});

/** Returns ports whose clock advances by 1 ms at each call, so that the time of a slice ends after some pages. */
function ports(): ServicePorts {
  const clock = { ...cloud.service.clock, now: () => now++ };
  return { ...cloud.service, clock };
}

const slice = (until = Number.POSITIVE_INFINITY, of = ports()) =>
  verifySlice(of, { until, page: 2, onBroken: (id, problem) => void broken.push(`${id} ${problem}`) });

describe("the daily check, which runs in slices,", () => {
  it("verifies every run once a day", async () => {
    const { check, runs } = await slice();
    expect([runs, check.runs, check.broken, check.isDone]).toEqual([5, 5, 0, true]);
    expect((await slice()).runs).toBe(0);
    expect(broken).toEqual([]);
  });

  it("verifies all runs again on the next day", async () => {
    expect((await slice()).runs).toBe(5);
    now += day;
    expect((await slice()).runs).toBe(5);
  });

  it("continues in its next slice after the last verified run, even if that slice is on the next day", async () => {
    const first = await slice(now + 4);
    expect(first.check.isDone).toBe(false);
    expect(first.runs).toBeGreaterThan(0);
    expect(first.runs).toBeLessThan(5);
    now += day;
    const second = await slice();
    expect(second.check).toMatchObject({ runs: 5, isDone: true, day: first.check.day });
    expect(first.runs + second.runs).toBe(5);
    expect((await slice()).runs).toBe(5);
  });

  it("verifies no run in a slice whose time limit has passed", async () => {
    expect((await slice(0)).runs).toBe(0);
  });

  it("stops a slice if another slice has stored its progress meanwhile", async () => {
    const of = ports();
    const { write } = of.dailyChecks;
    of.dailyChecks = {
      ...of.dailyChecks,
      async write(check, known) {
        of.dailyChecks = { ...of.dailyChecks, write };
        await slice(Number.POSITIVE_INFINITY, ports());
        return write(check, known);
      },
    };
    expect(await slice(Number.POSITIVE_INFINITY, of)).toMatchObject({ runs: 2, check: { isDone: false } });
    expect(await cloud.service.dailyChecks.read()).toMatchObject({ runs: 5, isDone: true });
  });

  it("reports each run whose chain is broken, with the problem", async () => {
    const table = new RawTable();
    const [, changed = ""] = ids;
    const record = (await table.itemsOf(changed)).find(({ pk }) => pk?.S === `E#${changed}`) as Item;
    await table.put([withLeaf(record, ["nodes"], { N: "7" })]);
    const { check } = await slice();
    await table.put([record]);
    expect(check).toMatchObject({ runs: 5, broken: 1, brokenRuns: [changed], isDone: true });
    expect(broken).toEqual([expect.stringMatching(new RegExp(`^${changed} the record of the run was changed`))]);
  });
});
