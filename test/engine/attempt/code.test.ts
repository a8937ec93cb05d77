import type { RunIo } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { addressesFor, allowedFor, followRun, networkOf } from "../../../packages/engine/src/attempt/code.ts";
import type { Task } from "../../../packages/engine/src/attempt/task-input.ts";
import { emptyOverlay } from "../../../packages/engine/src/secrets/overlay.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { Story } from "../../support/engine/story.ts";

const overlay = { ...emptyOverlay, hosts: ["smtp.acme.test:587", "api.acme.test:443"] };
const task = (allow?: string[], sealed?: true) => {
  const executor = { kind: "code" as const, code: "", ...(allow && { allow }) };
  return { node: { executor }, position: { before: { ...(sealed && { sealed }) } } } as Pick<Task, "node" | "position">;
};

describe("the network hosts that a node can connect to", () => {
  it("are the hosts in its definition and the hosts of its credentials, each listed once", () => {
    expect(allowedFor(task(["api.acme.test:443", "b.test"]), overlay)).toEqual([
      "api.acme.test:443",
      "b.test",
      "smtp.acme.test:587",
    ]);
    expect(allowedFor(task([]), emptyOverlay)).toEqual([]);
    expect(allowedFor(task(["api.acme.test:443"], true), overlay)).toEqual([]);
    expect(allowedFor(task(undefined, true), emptyOverlay)).toEqual([]);
  });

  it("are not limited if the node names no hosts", () => {
    expect(allowedFor(task(), overlay)).toBeUndefined();
    expect(networkOf(undefined, {})).toEqual({});
    expect(networkOf(undefined, {}, overlay)).toEqual({ near: overlay.hosts });
    expect(networkOf([], {}, overlay)).toEqual({ network: { allow: [] } });
  });

  it.each([
    ["a host name on a port other than 80 and 443", ["db.acme.test:5432"], { "db.acme.test": ["10.0.0.7"] }],
    ["a host name on two ports", ["db.acme.test:5432", "db.acme.test:22"], { "db.acme.test": ["10.0.0.7"] }],
    ["host names on the ports 80 and 443", ["a.test", "b.test:443", "c.test:80"], undefined],
    ["IP addresses, ranges and this machine", ["10.0.0.7:1", "[::1]:2", "10.0.0.0/8:3", "localhost:4"], undefined],
    ["no hosts", undefined, undefined],
  ])(
    "are resolved to IP addresses before the code starts only if a host name has a port other than 80 and 443: %s %j",
    async (_what, allow, addresses) => {
      const asked: string[] = [];
      const addressesOf = async (host: string) => {
        asked.push(host);
        return ["10.0.0.7"];
      };
      expect((await addressesFor({ hostNames: { addressesOf } }, allow)).addresses).toEqual(addresses);
      expect(asked).toEqual(Object.keys(addresses ?? {}));
    },
  );

  it("are sent to the sandbox together with the IP addresses that the turn of the node stores", () => {
    const addresses = { "db.acme.test": ["10.0.0.7"] };
    expect(networkOf(["db.acme.test:5432"], { addresses })).toEqual({
      network: { allow: ["db.acme.test:5432"], addresses },
    });
  });
});

const ref = { sha256: "0".repeat(64), bytes: 2, type: "bytes" } as const;

async function* halves(): AsyncIterable<Uint8Array> {
  yield Buffer.from("a");
  yield Buffer.from("b");
}

const io: RunIo = {
  openBlob: async () => halves(),
  storeBlob: async (_, body) => {
    for await (const _chunk of body);
  },
  outputs: async () => null,
  outputNames: async () => [],
  taskUrl: async () => null,
};

function following() {
  const [lambda, time] = [new AbortController(), new AbortController()];
  const follow = followRun(lambda.signal, () => time.signal);
  return { lambda, time, follow, io: follow.watch(io) };
}

it("a delivery stops waiting for running code when its time for this code or the time of the Lambda is over", () => {
  const one = following();
  expect(one.follow.signal.aborted).toBe(false);
  one.time.abort();
  expect(one.follow.signal.aborted).toBe(true);
  const other = following();
  other.lambda.abort();
  expect(other.follow.signal.aborted).toBe(true);
});

it("a delivery whose time for running code ends during the transfer of a value to the code completes the transfer", async () => {
  const { time, follow, io: watched } = following();
  const body = (await watched.openBlob(ref))[Symbol.asyncIterator]();
  await body.next();
  time.abort();
  expect(follow.signal.aborted).toBe(false);
  await body.next();
  expect(follow.signal.aborted).toBe(false);
  await body.next();
  expect(follow.signal.aborted).toBe(true);
});

it("a delivery whose time for running code ends during the transfer of a value from the code completes it, even if the write fails", async () => {
  const { time, follow, io: watched } = following();
  const failing = async function* () {
    yield Buffer.from("a");
    time.abort();
    expect(follow.signal.aborted).toBe(false);
    throw new Error("the connection broke");
  };
  await expect(watched.storeBlob(ref, failing())).rejects.toThrow("broke");
  expect(follow.signal.aborted).toBe(true);
});

/** Returns a pair for each request that starts code: the id of the node, and whether the request has `isLast`. */
async function lastOf(story: Story, ...nodes: [node: string, seq: number, scope?: string][]) {
  await story.start('{"list": [1]}');
  for (const [node, seq, scope] of nodes)
    await story.finish(story.deliver(node, seq, scope === undefined ? {} : { scope }));
  return story.begun.map(({ request }) => [request.node, request.isLast ?? false]);
}

it("a request to the sandbox marks code as the last code of the run if only end nodes follow the node of the code", async () => {
  const row = new Story(flow("row", [action("a"), action("b")], lines("start > a > b > end")));
  expect(await lastOf(row, ["a", 0], ["b", 1])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

it("a request to the sandbox never marks the code of a branch as the last code of the run, because code of other branches may follow", async () => {
  const nodes = [action("f"), action("a"), action("b")];
  const fork = new Story(flow("fork", nodes, lines("start > f > a > end", "f > b > end")));
  expect(await lastOf(fork, ["f", 0], ["a", 0, "/f@1.a"])).toEqual([
    ["f", false],
    ["a", false],
  ]);
});
