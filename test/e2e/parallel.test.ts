import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { action, between, forkedRuns, twoThatSet, ways } from "../support/forked.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(() => cloud.close());

async function run(workflow: object, context: object = {}) {
  const trace = await cloud.run(await cloud.publish(workflow), JSON.stringify(context));
  expect(await verified(cloud, trace)).toBe("anchored");
  return { ...trace, values: JSON.parse(trace.context.text) };
}

/**
 * Starts a server that answers only after `guests` requests have arrived. So branches that call it one after the other
 * would wait forever.
 */
async function meetingPoint(guests: number) {
  const waiting: (() => void)[] = [];
  const server = createServer((_, response) => {
    waiting.push(() => response.end("all here"));
    if (waiting.length === guests) for (const answer of waiting) answer();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    /**
     * The `network` field that lets code of a node reach this server. By default, code cannot reach its own machine.
     */
    network: { allow: [host] },
    [Symbol.dispose]: () => void server.close(),
  };
}

it("a fork runs three branches at the same time, each in a sandbox of its own", async () => {
  using meeting = await meetingPoint(3);
  const ask = (key: string) =>
    `import urllib.request\ncontext['${key}'] = urllib.request.urlopen(context['url']).read().decode()`;
  const checks = ["sender", "amount", "address"].map((id) => action(id, ask(id)));
  const edges = ways("start > sender > end", "start > amount > end", "start > address > end");
  const { values, entries } = await run(
    { ...between("checks", checks, edges), network: meeting.network },
    { url: meeting.url },
  );
  expect(values).toMatchObject({ sender: "all here", amount: "all here", address: "all here" });
  const boxes = entries[0]?.branches?.map((branch) => branch.entries[0]?.sandbox_id);
  expect(new Set(boxes).size).toBe(3);
});

it("a join fails if two branches set the same key, and its error names the key, both branches and the solution", async () => {
  const { execution, path, values } = await run(twoThatSet("name"));
  expect(execution.error).toMatchObject({
    class: "NodeFailed",
    message: expect.stringMatching(
      /branches "first" and "second" both changed context\["name"\].*"merge": "last" or "collect"/,
    ),
  });
  expect([path.includes("end"), "name" in values]).toEqual([false, false]);
});

it.each(Object.entries(forkedRuns))(
  "a run with forks takes the expected edges and sets the expected values: %s",
  async (_, { workflow, context, path, values }) => {
    const trace = await run(workflow, context);
    expect(trace.path).toEqual(path);
    expect(trace.values).toEqual(values);
  },
);

describe("a branch of a fork that fails", () => {
  const slow = "import time, urllib.request\nurllib.request.urlopen(context['url']).read()\ntime.sleep(600)";
  const fail = "import urllib.request\nurllib.request.urlopen(context['url']).read()\nraise ValueError('no sender')";
  const nodes = [
    action("quick", "context['quick'] = 1"),
    action("slow", slow),
    action("never", "context['never'] = 1"),
    action("fail", fail),
    action("rescue", "context['why'] = context['error']['message']"),
  ];
  const edges = ways("start > quick > slow > never > end", "start > fail > end");

  it("stops the code of the other branches and keeps their entries", async () => {
    using meeting = await meetingPoint(2);
    const plain = nodes.filter(({ id }) => id !== "rescue");
    const workflow = { ...between("failing", plain, edges), network: meeting.network };
    const { execution, entries, path } = await run(workflow, { url: meeting.url });
    expect(execution).toMatchObject({ status: "failed", error: { node: "fail" } });
    expect(path).toEqual(["start", "quick", "slow", "fail"]);
    const [left, right] = entries[0]?.branches ?? [];
    expect(left?.entries).toMatchObject([
      { node_id: "quick", status: "success", output_result: { text: expect.stringContaining('"quick":1') } },
      { node_id: "slow", status: "failed", error_class: "ExecutionClosed" },
    ]);
    expect(right?.entries).toMatchObject([{ node_id: "fail", status: "failed", error_class: "NodeFailed" }]);
  });

  it("continues at its onError while the other branches continue", async () => {
    using meeting = await meetingPoint(2);
    const caught = nodes.map((node) => (node.id === "fail" ? { ...node, onError: "rescue" } : node));
    const awake = caught.map((node) => ({ ...node, code: node.code.replace("\ntime.sleep(600)", "") }));
    const rescued = between("caught", awake, [...edges, ...ways("rescue > end")]);
    const workflow = { ...rescued, network: meeting.network };
    const { execution, values, path } = await run(workflow, { url: meeting.url });
    expect(execution.status).toBe("completed");
    expect(path).toEqual(["start", "quick", "slow", "never", "fail", "rescue", "end"]);
    expect(values).toMatchObject({ quick: 1, never: 1, why: "ValueError: no sender" });
  });
});
