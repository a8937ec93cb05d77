import { type RestartRequest, readTrace, restartExecution, type Trace, type WorkflowVersion } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/** Another number each time it runs. */
const random = (key: string) => `import random; context['${key}'] = random.random()`;
/** Fails until its cause is patched away. */
const fragile = (key: string) => `if context['bad']: raise ValueError('bad')\n${random(key)}`;

async function restart(of: Trace, version: WorkflowVersion, more: Partial<RestartRequest> = {}) {
  const { execution, forecast } = await restartExecution(cloud.ports, {
    ...{ source: of.execution, version, by: "user:test" },
    ...more,
  });
  await cloud.untilEnd(execution.id);
  return { trace: await readTrace(cloud.ports, execution.id, { full: true }), forecast };
}

const values = ({ context }: Trace) => JSON.parse(context.text) as Record<string, unknown>;
const reused = ({ entries }: Trace) => entries.flatMap(({ node_id, reused_from }) => (reused_from ? [node_id] : []));

describe("a restart", { timeout: 60_000 }, () => {
  it("goes on where the run failed, and takes over what was done before", async () => {
    const version = await cloud.publish(inARow("row", { one: random("a"), two: fragile("b"), three: random("c") }));
    const failed = await cloud.run(version, '{"bad": true}');
    expect(failed.execution.status).toBe("failed");
    const { trace, forecast } = await restart(failed, version, { patch: '{"bad": false}' });
    expect(forecast).toMatchObject({ reused: ["one"], runs: ["two", "three"], again: ["two"], misfits: [] });
    expect(trace.execution).toMatchObject({ status: "completed", restartedFrom: failed.execution.id, nodes: 2 });
    expect(reused(trace)).toEqual(["one"]);
    expect(values(trace).a).toBe(values(failed).a);
    expect(entryOf(trace, "one")).toMatchObject({
      execution_time_ms: 0,
      sandbox_id: null,
      reused_from: { execution_id: failed.execution.id, scope: "", seq: 1 },
    });
    expect(await verified(cloud, trace)).toBe("anchored");
    const { trace: again } = await restart(trace, version, { from: "three" });
    expect(reused(again)).toEqual(["one", "two"]);
    expect(entryOf(again, "one").reused_from).toMatchObject({ execution_id: failed.execution.id });
    expect(values(again)).toMatchObject({ a: values(failed).a, b: values(trace).b });
    expect(values(again).c).not.toBe(values(trace).c);
    expect(await verified(cloud, again)).toBe("anchored");
  });

  it("of a map runs the items that failed, and what comes behind the map", async () => {
    const version = await cloud.publish({
      id: "items",
      nodes: [
        { id: "start", type: "start" },
        {
          ...{ id: "each", type: "map", items: "list", as: "item", into: "all" },
          nodes: [
            { id: "first", type: "action", code: random("x") },
            {
              id: "second",
              type: "action",
              code: `if context['item'] in context['bad']: raise ValueError('bad')\n${random("y")}`,
            },
          ],
          edges: [{ from: "first", to: "second" }],
        },
        { id: "after", type: "action", code: random("z") },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "each" },
        { from: "each", to: "after" },
        { from: "after", to: "end" },
      ],
    });
    const failed = await cloud.run(version, '{"list": [0, 1, 2, 3], "bad": [2]}');
    expect(failed.execution.status).toBe("failed");
    const { trace, forecast } = await restart(failed, version, { patch: '{"bad": []}' });
    expect(forecast.runs).toEqual(expect.arrayContaining(["each[2].second", "after"]));
    expect(forecast.runs).not.toContain("each[2].first");
    expect(forecast.reused).toEqual(
      expect.arrayContaining(["each", "each[0].first", "each[0].second", "each[2].first"]),
    );
    expect(trace.execution.status).toBe("completed");
    expect((values(trace).all as object[]).length).toBe(4);
    expect(await verified(cloud, trace)).toBe("anchored");
    const once = await restart(trace, version, { from: "each[1].second" });
    const [before, after] = [values(trace).all, values(once.trace).all] as { x: number; y: number }[][];
    expect(after?.map(({ x }) => x)).toEqual(before?.map(({ x }) => x));
    expect(after?.map(({ y }, i) => y === before?.[i]?.y)).toEqual([true, false, true, true]);
    expect(values(once.trace).z).not.toBe(values(trace).z);
    const last = await restart(trace, version, { from: "after" });
    expect(values(last.trace).all).toEqual(values(trace).all);
    expect(last.forecast.runs).toEqual(["after"]);
  });
});
