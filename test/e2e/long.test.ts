// @module-tag deep
import { cancelExecution, type NodeEvent, type Ports, runNode, startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FollowTime } from "../../packages/engine/src/attempt/run-attempts.ts";
import { entryOf, historyText, oneNode, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";

let cloud: TestCloud;
let outside: CountingServer;

beforeAll(async () => {
  [cloud, outside] = await Promise.all([openTestCloud(), countingServer()]);
});

afterAll(async () => {
  await cloud.close();
  await outside[Symbol.asyncDispose]();
});

const hour = { timeout: 3_600 };
const call = (path: string) => `import time, urllib.request
def call(): return int(urllib.request.urlopen(f"{context['url']}/${path}").read())
call()
`;
const url = () => JSON.stringify({ url: outside.url });

async function sandboxesAlive(): Promise<unknown> {
  const { E2B_API_URL, E2B_API_KEY = "" } = process.env;
  const sandboxes = await fetch(`${E2B_API_URL}/v2/sandboxes`, { headers: { "x-api-key": E2B_API_KEY } });
  return sandboxes.json();
}

describe("code that runs longer than the Lambda that starts it", { timeout: 90_000 }, () => {
  it("runs only once while its task checks it repeatedly", async () => {
    const code = `${call("long")}time.sleep(11)\ncontext['done'] = True`;
    const trace = await cloud.run(await cloud.publish(oneNode(code, { ...hour, ...outside.reach })), url());
    expect(trace.execution.status).toBe("completed");
    expect(outside.count("/long")).toBe(1);
    expect(JSON.parse(entryOf(trace).changes.set.text)).toEqual({ done: true });
    expect(await historyText(trace)).toContain("work.pause");
    expect(await verified(cloud, trace)).toBe("anchored");
    expect(await sandboxesAlive()).toEqual([]);
  });

  it("is killed by a cancel of the run", async () => {
    const code = `${call("cancelled")}time.sleep(3000)`;
    const version = await cloud.publish(oneNode(code, { ...hour, ...outside.reach }));
    const { id } = await startExecution(cloud.ports, { version, context: url() });
    await outside.asked("/cancelled");
    expect(await cancelExecution(cloud.ports, id)).toMatchObject({ status: "cancelled" });
    expect(await sandboxesAlive()).toEqual([]);
  });

  it("is started by one delivery and checked by later deliveries, the last of which writes the result", async () => {
    const code = `${call("looked")}while call() < 40: time.sleep(0.05)\ncontext['done'] = True`;
    const version = await cloud.publish(oneNode(code, { ...hour, ...outside.reach }));
    const ports: Ports = {
      ...cloud.ports,
      stateMachines: { ...cloud.ports.stateMachines, start: async () => undefined },
    };
    const { id } = await startExecution(ports, { version, context: url() });
    const execution = { id, workflowId: version.workflowId, version: version.version };
    const event: NodeEvent = { execution, scope: "", seq: 0, node: "work" };
    const look = (followTime: FollowTime) => runNode(ports, event, AbortSignal.timeout(60_000), { followTime });
    const answers = [await look(() => AbortSignal.abort())];
    while ("running" in (answers.at(-1) ?? {})) answers.push(await look(() => AbortSignal.timeout(300)));
    expect(answers.length).toBeGreaterThan(3);
    expect(answers[0]).toEqual({ execution, scope: "", seq: 0, running: true, pause: 5 });
    expect(answers.at(-1)).toMatchObject({ seq: 1, summary: { set: ["done"] } });
    expect(outside.count("/looked")).toBe(40);
    await cancelExecution(ports, id);
  });
});
