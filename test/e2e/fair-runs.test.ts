// @module-tag deep
import { type Execution, startExecution } from "@nova/engine";
import { afterAll, describe, expect, it } from "vitest";
import { openTestCloud } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

const cloud = await openTestCloud();
afterAll(() => cloud.close());

const short = await cloud.publish(between("short", [action("a", "context['a'] = 1")], ways("start > a > end")));

async function started(client: string, version = short, context = "{}"): Promise<string> {
  return (await startExecution(cloud.ports, { version, client, context })).id;
}

async function recordsOf(ids: readonly string[]): Promise<Execution[]> {
  const records = await Promise.all(ids.map((id) => cloud.ports.executions.get(id)));
  return records.flatMap((record) => record ?? []);
}

describe("a run of a client without a limit of parallel runs", () => {
  it("does not wait for the end of all earlier runs of another client", async () => {
    const many = await Promise.all(Array.from({ length: 60 }, () => started("acme")));
    const other = await started("other");
    await cloud.untilEnd(other);
    const ended = (await recordsOf(many)).filter(({ open }) => !open);
    expect(ended.length).toBeLessThan(40);
    await Promise.all(many.map((id) => cloud.untilEnd(id)));
    const statuses = (await recordsOf([...many, other])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["completed"]));
  }, 120_000);

  it("does not wait for the end of a large map that started earlier", async () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const square = action("square", "context['square'] = context['item'] ** 2");
    const each = { id: "each", type: "map", items: "list", max_concurrency: 100, nodes: [square], edges: [] };
    const version = await cloud.publish(between("wide", [each], ways("start > each > end")));
    const map = await started("acme", version, JSON.stringify({ list: items }));
    const runs = [await started("acme"), await started("other")];
    await Promise.all(runs.map((id) => cloud.untilEnd(id)));
    expect(await recordsOf([map])).toMatchObject([{ open: true }]);
    await cloud.untilEnd(map);
    expect(await recordsOf([map, ...runs])).toMatchObject(Array(3).fill({ status: "completed" }));
  }, 120_000);
});
