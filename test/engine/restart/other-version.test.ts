import { planRestart, readTrace, restartExecution, type Trace, type WorkflowVersion } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const code = (id: string) => action(id, `context['${id}'] = '${id}'`);
const publish = (steps: string, ...edges: string[]) =>
  cloud.publish(between("flow", steps.split(" ").map(code), ways(...edges)));

async function requestOf(source: Trace, version: WorkflowVersion) {
  const record = await cloud.ports.executions.get(source.execution.id);
  if (!record) throw new TypeError(`execution ${source.execution.id} has no record`);
  return { source: record, version, from: "z", by: "a test" };
}

describe("a restart with another version", { timeout: 60_000 }, () => {
  it("runs the nodes after a branch that the source does not have, as forecast", async () => {
    const source = await cloud.run(await publish("f c d e z", "start > f > c > e > z > end", "f > d > e"));
    const version = await publish("f c n d e z", "start > f > c > e > z > end", "f > n > d > e");
    const { execution, forecast } = await restartExecution(cloud.ports, await requestOf(source, version));
    expect(forecast).toMatchObject({ reused: ["f", "c"], runs: ["n", "d", "e", "z"], misfits: [] });
    await cloud.untilEnd(execution.id);
    const trace = await readTrace(cloud.ports, execution.id, { full: true });
    const taken = trace.entries.filter(({ reused_from }) => reused_from).map(({ node_id }) => node_id);
    expect(taken).toEqual(["f"]);
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 4 });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("names a branch that the version does not have if later outcomes depend on it", async () => {
    const source = await cloud.run(
      await publish("f c d g e z", "start > f > c > e > z > end", "f > d > e", "f > g > e"),
    );
    const version = await publish("f c d e z", "start > f > c > e > z > end", "f > d > e");
    const { forecast } = await planRestart(cloud.ports, await requestOf(source, version));
    expect(forecast.misfits).toEqual(["g: no step of the version is this one"]);
  });
});
