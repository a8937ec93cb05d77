// @module-tag deep
import { Sandbox } from "@e2b/code-interpreter";
import type { CloudOptions } from "@nova/local";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { entryOf, historyText, inARow, openTestCloud, type TestCloud, unoffered, verified } from "../support/cloud.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";

type Faults = Required<NonNullable<CloudOptions["faults"]>>;

let cloud: TestCloud;
let outside: CountingServer;
let faults: Partial<Faults> = {};
/** How often each request has arrived, repetitions included. */
const times = new Map<string, number>();

beforeAll(async () => {
  const limits = { concurrent: 2 };
  cloud = await openTestCloud({
    limits,
    faults: { dynamodb: (request) => faults.dynamodb?.(request), s3: (request) => faults.s3?.(request) },
  });
  outside = await countingServer();
});

afterEach(() => {
  faults = {};
});

afterAll(async () => {
  await cloud.close();
  await outside[Symbol.asyncDispose]();
});

/** Counts an arrival of a request. Returns true for the first `count` arrivals. */
function first(count: number, request: string): boolean {
  const before = times.get(request) ?? 0;
  times.set(request, before + 1);
  return before < count;
}

const make = "context['data'] = bytes(100_000)\ncontext['rows'] = [[n, 'row'] for n in range(2000)]";
const sum = "context['sum'] = len(context['data']) + len(context['rows'])";
/** A node that reads the values in its own sandbox, which has to load them from S3. */
const use = { code: sum, isolation: "fresh" };

describe("a run loses no data", () => {
  it.each<[string, Partial<Faults>]>([
    ["DynamoDB throttles", { dynamodb: ({ text }) => (first(2, text) ? "throttle" : undefined) }],
    ["DynamoDB answers 500", { dynamodb: ({ text }) => (first(1, text) ? "error" : undefined) }],
    ["DynamoDB's responses are lost", { dynamodb: ({ text }) => (first(1, text) ? "lost" : undefined) }],
    ["S3 throttles", { s3: ({ operation, key }) => (first(2, operation + key) ? "throttle" : undefined) }],
    ["S3 answers 500", { s3: ({ operation, key }) => (first(1, operation + key) ? "error" : undefined) }],
  ])("if %s", async (_what, suffered) => {
    const version = await cloud.publish(inARow("stores", { make, use }));
    times.clear();
    faults = suffered;
    const trace = await cloud.run(version);
    expect(times.size).toBeGreaterThan(3);
    expect(JSON.parse(trace.context.text)).toMatchObject({ sum: 102_000 });
    expect([trace.execution.status, trace.execution.nodes]).toEqual(["completed", 2]);
    expect(await verified(cloud, trace)).toBe("anchored");
    expect((await cloud.ports.executions.list({ workflow: "stores", limit: 1 })).items).toEqual([trace.execution]);
  });

  it("if DynamoDB and S3 are down for a second during the run", async () => {
    const away = "import urllib.request\nurllib.request.urlopen(context['url'] + '/away')\n";
    const version = await cloud.publish(inARow("away", { make: away + make, use }, outside.reach));
    const running = cloud.run(version, JSON.stringify({ url: outside.url }));
    await outside.asked("/away");
    let failed = 0;
    const until = Date.now() + 1_500;
    const whileAway = () => (Date.now() < until && ++failed ? "error" : undefined);
    faults = { dynamodb: whileAway, s3: whileAway };
    const trace = await running;
    expect(failed).toBeGreaterThan(5);
    expect([trace.execution.status, outside.count("/away")]).toEqual(["completed", 1]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

describe("a sandbox that is lost while code runs", () => {
  const code = (path: string) => `import time, urllib.request
begun = int(urllib.request.urlopen(context['url'] + '${path}').read())
print('begun', begun, flush=True)
time.sleep(60 if begun == 1 else 0)
context['begun'] = begun`;

  async function runAndLose(path: string, node: object) {
    const version = await cloud.publish(
      inARow(
        `lost${path.replace("/", "-")}`,
        {
          first: "context['a'] = 1",
          work: { code: code(path), ...node },
          after: "context['after'] = context.get('error', {}).get('class')",
        },
        outside.reach,
      ),
    );
    const running = cloud.run(version, JSON.stringify({ url: outside.url }));
    await outside.asked(path);
    const [lost = ""] = await unoffered(cloud);
    await Sandbox.kill(lost);
    return { trace: await running, lost };
  }

  it("fails the node if its code may have had effects", async () => {
    const { trace, lost } = await runAndLose("/fails", {});
    expect(trace.execution).toMatchObject({ status: "failed", error: { node: "work", class: "NodeInterrupted" } });
    expect(entryOf(trace)).toMatchObject({ status: "failed", sandbox_id: lost, attempt: 1 });
    expect([trace.path, outside.count("/fails")]).toEqual([["start", "first", "work"], 1]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("makes the run continue at the node's onError in another sandbox", async () => {
    const { trace, lost } = await runAndLose("/rescued", { onError: "after" });
    expect([trace.execution.status, JSON.parse(trace.context.text).after]).toEqual(["completed", "NodeInterrupted"]);
    expect(entryOf(trace, "after").sandbox_id).not.toBe(lost);
    expect(outside.count("/rescued")).toBe(1);
  });

  it("is replaced if the node declares `effects: false`, and the chain has both attempts", async () => {
    const { trace, lost } = await runAndLose("/replaced", { effects: false });
    expect(JSON.parse(trace.context.text)).toMatchObject({ a: 1, begun: 2, after: null });
    const { attempt, sandbox_id, steps } = entryOf(trace);
    expect(attempt).toBe(2);
    expect(sandbox_id).not.toBe(lost);
    expect(steps).toMatchObject([{ attempt_number: 1, sandbox_id: lost, status: "failed" }]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

it("a run ends at the timeout of its workflow, together with its running code", async () => {
  const work = { code: "import time\nprint('begun', flush=True)\ntime.sleep(60)", onError: "after" };
  const trace = await cloud.run(await cloud.publish(inARow("slow", { work, after: "x = 1" }, { timeout: 1 })));
  expect(trace.execution).toMatchObject({ status: "failed", error: { node: "work", class: "NodeTimeout" } });
  expect([entryOf(trace).logs, trace.path]).toEqual(["begun\n", ["start", "work"]]);
  expect(await verified(cloud, trace)).toBe("anchored");
  expect(await unoffered(cloud)).toEqual([]);
});

it("runs wait for sandboxes and then complete if they need more sandboxes than E2B allows", {
  timeout: 60_000,
}, async () => {
  const version = await cloud.publish(inARow("crowd", { work: "import time; time.sleep(0.3)" }));
  const traces = await Promise.all(Array.from({ length: 5 }, () => cloud.run(version)));
  expect(traces.map(({ execution }) => execution.status)).toEqual(Array(5).fill("completed"));
  const histories = await Promise.all(traces.map(historyText));
  expect(histories.filter((text) => text.includes('"SandboxUnavailable"')).length).toBeGreaterThan(0);
});
