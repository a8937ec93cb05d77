// @module-tag deep
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inARow, openChaoticCloud, strays, type TestCloud, verified } from "../support/cloud.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";

let cloud: TestCloud;
let outside: CountingServer;

beforeAll(async () => {
  [cloud, outside] = await Promise.all([openChaoticCloud(11), countingServer()]);
});

afterAll(async () => {
  await cloud.close();
  await outside[Symbol.asyncDispose]();
});

/** Code that reports each start to the counting server. The path of the request has its idempotency key. */
const begin = (node: string) =>
  `import os, urllib.request\nurllib.request.urlopen(f"{context['url']}/${node}/{os.environ['NOVA_IDEMPOTENCY_KEY']}")\n`;

/** Code that reports its start to the counting server, and fails the first time that it starts. */
const beginAgain = (node: string) =>
  `import os, urllib.request\nasked = urllib.request.urlopen(f"{context['url']}/${node}/{os.environ['NOVA_IDEMPOTENCY_KEY']}")\nif asked.read() == b'1': raise ConnectionError('busy')\n`;
const retry = { attempts: 3, delay: 1, on: ["ConnectionError busy"] };

/** A workflow with a blob, a decision, a caught failure, code that may run again, and long code. */
const sixNodes = {
  id: "six-nodes",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "make",
      type: "action",
      retry,
      code: `${beginAgain("make")}context['data'] = bytes([context['n']]) * 100_000`,
    },
    {
      id: "sum",
      type: "action",
      effects: false,
      timeout: 3_600,
      code: `${begin("sum")}context['sum'] = sum(context['data'])`,
    },
    { id: "large", type: "decision", code: `${begin("large")}context['branch_decision'] = context['sum'] > 100_000` },
    {
      id: "risky",
      type: "action",
      onError: "rescue",
      timeout: 3_600,
      code: `${begin("risky")}context['x'] = 1\nraise ValueError('as planned')`,
    },
    { id: "rescue", type: "action", code: `${begin("rescue")}context['error_was'] = context['error']['message']` },
    { id: "small", type: "action", isolation: "fresh", code: `${begin("small")}del context['data']` },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "make" },
    { from: "make", to: "sum" },
    { from: "sum", to: "large" },
    { from: "large", to: "risky", condition: true },
    { from: "large", to: "small", condition: "default" },
    { from: "risky", to: "end" },
    { from: "rescue", to: "end" },
    { from: "small", to: "end" },
  ],
};

/**
 * A workflow with a fork that has a map in one of its branches. Each item of the map has a fork, too. One failed item
 * is tolerated.
 */
const branches = {
  id: "branches",
  nodes: [
    { id: "start", type: "start" },
    { id: "split", type: "action", code: `${begin("split")}context['items'] = [1, 0, 5, 10]` },
    { id: "left", type: "action", effects: false, code: "context['left'] = len(context['items'])" },
    {
      id: "each",
      type: "map",
      items: "items",
      into: "shares",
      tolerated_failures: "25%",
      nodes: [
        { id: "share", type: "action", code: `${begin("share")}context['share'] = 10 / context['item']` },
        { id: "more", type: "action", retry, code: `${beginAgain("more")}context['more'] = context['share'] + 1` },
        { id: "less", type: "action", code: `${begin("less")}context['less'] = context['share'] - 1` },
      ],
      edges: [
        { from: "share", to: "more" },
        { from: "share", to: "less" },
      ],
    },
    { id: "meet", type: "action", code: `${begin("meet")}context['met'] = context['left'] + len(context['shares'])` },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "split" },
    { from: "split", to: "left" },
    { from: "split", to: "each" },
    { from: "left", to: "meet" },
    { from: "each", to: "meet" },
    { from: "meet", to: "end" },
  ],
};

const called = inARow("called", { twice: `${begin("twice")}context['twice'] = context['n'] * 2` });
const runsCalled = { workflow: "called", output: { twice: "twice" } };
const calling = inARow("calling", {
  first: `${begin("first")}context['list'] = [1, 2]`,
  once: { type: "workflow", input: { n: "list.0", url: "url" }, ...runsCalled },
  each: { type: "map", items: "list", as: "n", input: { url: "url" }, ...runsCalled },
});

/** The expected path and values of `sixNodes` for each input `n`. Faults must not change them. */
const expected: Record<number, { path: string[]; values: object }> = {
  1: { path: ["start", "make", "sum", "large", "small", "end"], values: { sum: 100_000, branch_decision: false } },
  2: {
    path: ["start", "make", "sum", "large", "risky", "rescue", "end"],
    values: {
      sum: 200_000,
      branch_decision: true,
      error_was: "ValueError: as planned",
      data: { $blob: { type: "bytes", bytes: 100_000, sha256: sha256(Buffer.alloc(100_000, 2)) } },
    },
  },
};

describe("in a cloud that delivers tasks twice and kills Lambdas, NOVA", { timeout: 120_000 }, () => {
  it("follows the expected edges in each run, sets the expected values, and writes valid chains", async () => {
    const [hello, six] = [
      await cloud.publish("packages/templates/hello"),
      await cloud.publish({ ...sixNodes, ...outside.reach }),
    ];
    const { url } = outside;
    const [greeting, ...traces] = await Promise.all([
      cloud.run(hello, '{"name": "Ada"}'),
      ...[1, 2, 2].map((n) => cloud.run(six, JSON.stringify({ n, url }))),
    ]);
    expect(greeting?.execution.status).toBe("completed");
    for (const trace of traces) {
      const { n, ...context } = JSON.parse(trace.context.text);
      expect({ path: trace.path, values: context }).toEqual({
        path: expected[n]?.path,
        values: { url, ...expected[n]?.values },
      });
      expect(await verified(cloud, trace)).toBe("anchored");
    }
  });

  it("gets the expected results of branches and items, and writes valid chains", async () => {
    const version = await cloud.publish({ ...branches, ...outside.reach });
    const context = JSON.stringify({ url: outside.url });
    for (const trace of await Promise.all([cloud.run(version, context), cloud.run(version, context)])) {
      expect(await verified(cloud, trace)).toBe("anchored");
      expect(JSON.parse(trace.context.text)).toMatchObject({
        met: 8,
        shares: [
          { share: 10, more: 11, less: 9 },
          { error: { node: "share", class: "NodeFailed" } },
          { share: 2, more: 3, less: 1 },
          { share: 1, more: 2, less: 0 },
        ],
      });
    }
  });

  it("gets the expected results of called workflows, and writes valid chains", async () => {
    await cloud.publish({ ...called, ...outside.reach });
    const version = await cloud.publish({ ...calling, ...outside.reach });
    const context = JSON.stringify({ url: outside.url });
    for (const trace of await Promise.all([cloud.run(version, context), cloud.run(version, context)])) {
      expect(await verified(cloud, trace)).toBe("anchored");
      expect(JSON.parse(trace.context.text)).toMatchObject({ twice: 2, results: [{ twice: 2 }, { twice: 4 }] });
    }
  });

  it("starts the code of a node a second time only if the node permits this", () => {
    const wanted = (path: string) => (/^\/(make|more)\//.test(path) ? 2 : 1);
    const begun = Object.entries(outside.counts()).filter(([path]) => !path.startsWith("/sum/"));
    const inBranches = 1 + 4 + 2 * 3 + 1;
    const inWorkflows = 1 + 1 + 2;
    expect(begun).toHaveLength(3 + 4 + 4 + 2 * inBranches + 2 * inWorkflows);
    expect(begun.filter(([path, times]) => times !== wanted(path))).toEqual([]);
  });

  it("leaves no sandbox occupied", async () => {
    await vi.waitFor(async () => expect(await strays(cloud)).toEqual([]), 30_000);
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
