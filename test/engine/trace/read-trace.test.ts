import {
  type EntryPage,
  ExecutionNotFound,
  type Ports,
  readEntries,
  readState,
  readTrace,
  readTraceLink,
  renderJson,
  requestApproval,
  runNode,
  type StoredEntry,
  type TraceEntry,
} from "@nova/engine";
import type { ApprovalNode, Node, WaitNode } from "@nova/workflow";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../../packages/engine/src/sha256.ts";
import { contextAt } from "../../support/engine/context-at.ts";
import { action, decision, flow, lines, mapOver } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { fails, given, Story, succeeds } from "../../support/engine/story.ts";

const workflow = flow(
  "traced",
  [decision("d"), action("a", { onError: "r", effects: false, retry: { attempts: 2, delaySeconds: 0 } }), action("r")],
  [
    ["start", "d"],
    ["d", "a", true],
    ["d", "end", "default"],
    ["a", "end"],
    ["r", "end"],
  ],
);
const broken: Script = {
  result: {
    status: "error",
    class: "NodeFailed",
    message: "no total",
    traceback: "line 3",
    logs: "looking",
    durationMs: 7,
  },
};
const asJson = (value: unknown) => JSON.parse(renderJson(value));

async function failedTrace(full: boolean) {
  const scripts = { d: [succeeds("branch_decision", "true")], a: [broken], r: [succeeds("r", "850.0")] };
  const story = await new Story(workflow, scripts).start('{"n":12345678901234567890}');
  await story.everything();
  return { story, trace: await readTrace(story.world.ports(atOnce), story.id, { full }) };
}

it("a trace names the execution in every entry", async () => {
  const { story, trace } = await failedTrace(false);
  expect(trace.entries.map(({ execution_id }) => execution_id)).toEqual(trace.entries.map(() => story.id));
});

describe("the trace of a run", () => {
  it("lists the resolved addresses of hosts on ports other than 80 and 443, except for localhost", async () => {
    const allow = ["db.example.com:5432", "web.example.com:443", "localhost:3720"];
    const asks = { ...action("a"), executor: { kind: "code" as const, code: "pass", allow } };
    const arrows: [string, string][] = [
      ["start", "a"],
      ["a", "end"],
    ];
    const story = await new Story(flow("asking", [asks], arrows), { a: [succeeds("a", "1")] }).start("{}");
    await story.everything();
    const { entries } = await readTrace(story.world.ports(atOnce), story.id);
    const told = entries.map(({ resolved_hosts }) => resolved_hosts);
    expect(told).toEqual([undefined, { "db.example.com": ["address of db.example.com"] }, undefined, undefined]);
  });

  it("has one entry per node, with public field names", async () => {
    const { trace } = await failedTrace(false);
    expect(trace.path).toEqual(["start", "d", "a", "r", "end"]);
    expect(trace.execution.status).toBe("completed");
    const [, d, a, r, , close] = trace.entries;
    expect(d).toMatchObject({ node_type: "decision", decision_result: "true", path_taken: "a", status: "success" });
    expect(a).toMatchObject({
      status: "failed",
      error_class: "NodeFailed",
      error_message: "no total",
      traceback: "line 3",
      path_taken: "r",
      attempt: 2,
      execution_time_ms: 7,
    });
    expect(asJson(a?.steps)).toMatchObject([
      { format: 1, attempt_number: 1, status: "failed", error_message: "no total", logs: "looking" },
      { format: 1, attempt_number: 2, status: "failed", error_class: "NodeFailed" },
    ]);
    expect(renderJson(r?.changes)).toBe('{"set":{"r":850.0},"delete":[]}');
    expect(close).toMatchObject({ node_type: "close", status: "success", prev: trace.entries[4]?.hash });
    expect(a).not.toHaveProperty("input_context");
  });

  it("ends with the final context, which keeps all digits of its numbers", async () => {
    const { trace } = await failedTrace(false);
    expect(trace.context.text).toBe('{"n":12345678901234567890,"branch_decision":true,"r":850.0}');
  });

  it("includes code, logs, input and output if it is read in full", async () => {
    const { trace } = await failedTrace(true);
    const [, , a, r] = trace.entries;
    expect(a).toMatchObject({ code_executed: "# a", logs: "looking" });
    expect(a?.input_context?.text).toBe('{"n":12345678901234567890,"branch_decision":true}');
    expect(asJson(r?.input_context).error).toEqual({
      node: "a",
      class: "NodeFailed",
      message: "no total",
      traceback: "line 3",
    });
    expect(asJson(r?.output_result)).not.toHaveProperty("error");
  });

  it("shows null in place of erased contents", async () => {
    const { story } = await failedTrace(false);
    const link = story.world.chain.at({ execution: story.id, scope: "", seq: 2 });
    if (link.entry) link.entry = { ...link.entry, contents: {} };
    const trace = await readTrace(story.world.ports(atOnce), story.id, { full: true });
    expect(trace.entries[2]).toMatchObject({ output_result: null, logs: null, code_executed: "# a" });
    expect(trace.path).toHaveLength(5);
  });

  it("is undefined for an unknown execution id", async () => {
    const { story } = await failedTrace(false);
    await expect(readTrace(story.world.ports(atOnce), "exec_x")).rejects.toThrow(ExecutionNotFound);
  });
});

const treeNodes = [action("a"), action("f"), action("b"), action("c"), mapOver("m", [action("i")], [])];
const tree = flow("tree", treeNodes, lines("start > a > f > b > m > end", "f > c > m"));
const echo = { i: (request: Parameters<typeof given>[0]) => succeeds("i", given(request, "item") ?? "") };
let story: Story;
let reads: string[];

/** Returns ports that record which parts of the chain are read. */
function watched(): Ports {
  const ports = story.world.ports(atOnce);
  const { chain } = ports;
  reads = [];
  return {
    ...ports,
    chain: {
      ...chain,
      read(at) {
        reads.push(`${at.scope}#${at.seq}`);
        return chain.read(at);
      },
      links(id, scope, from) {
        reads.push(`all of ${scope}`);
        return chain.links(id, scope, from);
      },
    },
  };
}

function everyEntry(entries: readonly TraceEntry[]): TraceEntry[] {
  return entries.flatMap((one) => [one, ...(one.branches ?? []).flatMap((branch) => everyEntry(branch.entries))]);
}

beforeAll(async () => {
  story = await new Story(tree, echo).start('{"list":[1.50,2]}');
  await story.everything();
});

describe("a page of the chain of work", () => {
  it("has the same entries as the whole chain, and reads the branches of its entries only", async () => {
    for (const full of [true, false]) {
      const { entries } = await readEntries(story.world.ports(atOnce), story.id, { full });
      const pages: EntryPage[] = [];
      for (let from: number | undefined = 0; from !== undefined; from = pages.at(-1)?.next) {
        pages.push(await readEntries(watched(), story.id, { full, from, limit: 2 }));
        const read = reads.filter((one) => one.startsWith("all of /"));
        expect(read.length).toBe((pages.at(-1)?.entries ?? []).flatMap(({ branches = [] }) => branches).length);
      }
      expect(pages.map(({ next }) => next)).toEqual([2, 4, 6, undefined]);
      expect(renderJson(pages.flatMap((page) => page.entries))).toBe(renderJson(entries));
    }
  });

  it("ends before the first entry that does not fit into the size of a page", async () => {
    const fits = ({ node_id }: TraceEntry) => node_id !== "m";
    expect(await readEntries(watched(), story.id, { fits })).toMatchObject({ entries: { length: 4 }, next: 4 });
    expect(await readEntries(watched(), story.id, { from: 999_999_999, full: true })).toEqual({ entries: [] });
    expect(reads).toEqual(["all of "]);
  });
});

it("a read of a run's state loads no contents of entries, except the newest context", async () => {
  const newest = story.world.chain.entriesOf(story.id).findLastIndex(({ contents }) => contents.context);
  const ports = story.world.ports(atOnce);
  const { chain } = ports;
  const bare: Ports["chain"] = {
    ...chain,
    async *links(id, scope, from) {
      for await (const { seq, entry } of chain.links(id, scope, from)) {
        const contents = scope === "" && seq === newest ? entry?.contents : {};
        yield { seq, ...(entry && { entry: { ...entry, contents: contents ?? {} } }) };
      }
    },
  };
  const state = await readState({ ...ports, chain: bare }, story.id);
  expect(state).toEqual(await readState(ports, story.id));
  expect(state.context.text).toContain('"m":[{"i":1.50},{"i":2}]');
});

describe("the trace of one single entry", () => {
  it.each([true, false])(
    "equals the same entry in the trace of the whole run, for every entry (full: %s)",
    async (full) => {
      const ports = story.world.ports(atOnce);
      const { entries, execution } = await readTrace(ports, story.id, { full });
      const all = everyEntry(entries);
      expect(all.map(({ scope }) => scope)).toEqual(expect.arrayContaining(["", "/f@2.b", "/m@4.1"]));
      for (const entry of all) {
        const { seq, scope } = entry;
        const found = await readTraceLink(ports, story.id, { seq, scope, full });
        expect(found.execution).toEqual(execution);
        expect(renderJson(found.entry)).toBe(renderJson(entry));
      }
    },
  );

  it.each([
    ["the entry itself", "", 1, false, ["#1"]],
    ["the entry itself and the entry before it", "", 1, true, ["#1", "#0"]],
    ["only the entry itself if it is the first one", "", 0, true, ["#0"]],
    ["the entry itself and the fork before it", "/f@2.b", 1, true, ["/f@2.b#1", "#2"]],
  ])("needs as few entries of the chain as possible: %s", async (_, scope, seq, full, expected) => {
    await readTraceLink(watched(), story.id, { seq, scope, full });
    expect(reads).toEqual(expected);
  });

  it.each([
    ["a number that no entry has", "", 99],
    ["the number 0 of a branch", "/f@2.b", 0],
    ["a branch that does not exist", "/f@2.z", 1],
    ["a scope that is no branch", "f@2.b", 1],
    ["a scope outside every branch", "x/f@2.b", 1],
    ["a sort key of DynamoDB in place of a scope", "#0000000001#1", 0],
    ["a scope that is too long for a key of DynamoDB", `/f@2.${"ä".repeat(600)}`, 1],
  ])("is undefined for %s", async (_, scope, seq) => {
    const found = await readTraceLink(watched(), story.id, { seq, scope, full: true });
    expect(found.entry).toBeUndefined();
    expect(reads.length).toBeLessThan(2);
  });

  it("is undefined, and reads nothing from the chain, if its scope is not valid", async () => {
    await readTraceLink(watched(), story.id, { seq: 1, scope: `/f@2.${"ä".repeat(600)}`, full: true });
    expect(reads).toEqual([]);
  });
});

const atWork = async (story: Story) => (await readTrace(story.world.ports(atOnce), story.id)).atWork;

/** Starts a run whose first node has ended and whose second node is `node`. */
async function waiting(node: Node): Promise<Story> {
  const story = await new Story(flow("waits", [action("a"), node], lines(`start > a > ${node.id} > end`))).start();
  await story.finish(story.deliver("a", 0));
  return story;
}

const event = (story: Story, node: string) => {
  const { workflowId, version } = story.world.record(story.id);
  return { execution: { id: story.id, workflowId, version }, scope: "", seq: 1, node };
};

it("a running node is listed in the trace with its start and its attempt until it ends", async () => {
  const story = await new Story(flow("runs", [action("a")], lines("start > a > end"))).start();
  expect(await atWork(story)).toEqual({ count: 0, nodes: [], maps: [] });
  const delivery = story.deliver("a", 0);
  await story.until(delivery, "wait");
  const since = story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).turn?.since;
  const node = { node_id: "a", node_type: "action", scope: "", seq: 1, attempt: 1, since, waits_for: null };
  expect(await atWork(story)).toEqual({ count: 1, nodes: [node], maps: [] });
  await story.finish(delivery);
  await story.everything();
  expect(await atWork(story)).toEqual({ count: 0, nodes: [], maps: [] });
});

it("an open wait for a time is listed in the trace with the time at which it ends", async () => {
  const pause: WaitNode = { id: "pause", type: "wait", for: { kind: "seconds", seconds: 900 } };
  const story = await waiting(pause);
  const until = story.world.clock.iso(story.world.clock.now + 900_000);
  await runNode(story.world.ports(atOnce), event(story, "pause"), new AbortController().signal);
  expect((await atWork(story)).nodes).toMatchObject([{ node_id: "pause", waits_for: { kind: "time", until } }]);
});

it("an open approval is listed in the trace with its message and the time at which its timeout ends", async () => {
  const ask: ApprovalNode = {
    id: "ask",
    type: "approval",
    message: "Pay?",
    choices: ["yes", "no"],
    to: [],
    into: "ask",
    timeoutSeconds: 60,
  };
  const story = await waiting(ask);
  const until = story.world.clock.iso(story.world.clock.now + 60_000);
  const asked = await requestApproval(story.world.ports(atOnce), { ...event(story, "ask"), token: "t" });
  const [node] = (await atWork(story)).nodes;
  const task = { task_id: asked.task, message: "Pay?", choices: ["yes", "no"] };
  expect(node?.waits_for).toEqual({ kind: "approval", until, ...task });
});

it("an open wait for an event is listed in the trace with its pattern, which keeps all digits of its numbers", async () => {
  const pattern = { source: ["crm"], detail: { order: ["{{order}}"] } };
  const wait: WaitNode = { id: "crm", type: "wait", for: { kind: "event", pattern, timeoutSeconds: 60, into: "crm" } };
  const workflow = flow("waits", [action("a"), wait], lines("start > a > crm > end"));
  const story = await new Story(workflow).start('{"order":12345678901234567890}');
  await story.finish(story.deliver("a", 0));
  await requestApproval(story.world.ports(atOnce), { ...event(story, "crm"), token: "t" });
  const [node] = (await atWork(story)).nodes;
  expect(renderJson(node?.waits_for)).toContain(
    '"pattern":{"source":["crm"],"detail":{"order":[12345678901234567890]}}',
  );
});

it("a node between two attempts is listed in the trace with the start of its next attempt", async () => {
  const story = await new Story(flow("tries", [action("a")], lines("start > a > end"))).start();
  const due = "2026-11-23T09:00:00.000Z";
  const turn = { node: "a", state: "held", sandbox: null, attempt: 1, since: story.world.clock.iso(), due } as const;
  story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).turn = turn;
  expect((await atWork(story)).nodes).toMatchObject([{ node_id: "a", waits_for: { kind: "retry", until: due } }]);
});

it("a failed attempt is listed in the trace with its node, both before and during the next attempt", async () => {
  const retry = { attempts: 2, delaySeconds: 10, jitter: true } as const;
  const workflow = flow("tries", [action("a", { retry })], lines("start > a > end"));
  const failing = { ...fails("no"), result: { ...fails("no").result, logs: "asking\n" } } as Script;
  const story = await new Story(workflow, { a: [failing, succeeds("a", "1")] }).start();
  await story.finish(story.deliver("a", 0));
  const failed = { attempt_number: 1, error_class: "NodeFailed", error_message: "no", logs: "asking\n" };
  const attempts = [{ ...failed, retry_delay_ms: 10_000, retry_jitter: true }];
  expect((await atWork(story)).nodes).toMatchObject([{ attempt: 1, waits_for: { kind: "retry" }, attempts }]);
  story.world.clock.advance(10_000);
  await story.until(story.deliver("a", 0), "wait");
  expect((await atWork(story)).nodes).toMatchObject([{ attempt: 2, waits_for: null, attempts }]);
});

it("the first twenty running items of a map are listed in the trace, and further running items are only counted", async () => {
  const workflow = flow("many", [mapOver("m", [action("i")], [])], lines("start > m > end"));
  const story = await new Story(workflow, { i: () => succeeds("i", "1") }).start(
    JSON.stringify({ list: Array.from({ length: 30 }, (_, i) => i) }),
  );
  await story.finish(story.deliver("m", 0));
  for (let i = 0; i < 4; i++) await story.finish(story.deliver("i", 0, { scope: `/m@1.${i}` }));
  for (let i = 4; i < 30; i++) {
    const turn = { node: "i", state: "held", sandbox: null, attempt: 1, since: story.world.clock.iso() } as const;
    story.world.chain.at({ execution: story.id, scope: `/m@1.${i}`, seq: 1 }).turn = turn;
  }
  const { count, nodes, maps } = await atWork(story);
  expect({ count, listed: nodes.length, first: nodes[0]?.scope }).toEqual({ count: 26, listed: 20, first: "/m@1.4" });
  expect(maps).toEqual([{ node_id: "m", scope: "", seq: 1, items: 30, done: 4, failed: 0 }]);
});

const branchNodes = [action("f"), action("a"), action("b"), mapOver("m", [action("i")], [])];
const branching = flow("tree", branchNodes, lines("start > f > a > m > end", "f > b > m"));

async function ran(list = "[1.50,2]"): Promise<Story> {
  const story = await new Story(branching, echo).start(`{"list":${list}}`);
  await story.everything();
  return story;
}

describe("the chain of work of branches", () => {
  it("is listed inside the entry of their fork, branch by branch", async () => {
    const story = await ran();
    const trace = await readTrace(story.world.ports(atOnce), story.id, { full: true });
    const [, f, , m, join] = trace.entries;
    expect(f?.branches).toMatchObject([
      {
        branch: "a",
        scope: "/f@1.a",
        entries: [{ node_id: "a", seq: 1, prev: f?.hash, input_context: { text: '{"list":[1.50,2],"f":true}' } }],
      },
      { branch: "b", scope: "/f@1.b", entries: [{ node_id: "b" }] },
    ]);
    const [item] = m?.branches ?? [];
    expect(item).toMatchObject({ branch: "0", scope: "/m@3.0" });
    expect(item?.entries[0]?.input_context?.text).toBe(
      '{"list":[1.50,2],"f":true,"a":true,"b":true,"item":1.50,"index":0}',
    );
    expect(renderJson(item?.entries[0]?.changes)).toBe('{"set":{"i":1.50},"delete":[]}');
    expect(renderJson(join?.changes)).toBe('{"set":{"m":[{"i":1.50},{"i":2}]},"delete":[]}');
    expect(trace.path).toEqual(["start", "f", "a", "b", "m", "i", "i", "end"]);
  });

  it("includes the context after each entry of a branch, and each of these entries can also be read alone", async () => {
    const story = await ran();
    const ports = story.world.ports(atOnce);
    expect((await contextAt(ports, { execution: story.id, scope: "/f@1.b", seq: 1 })).get("b")).toBe("true");
  });
});

describe("verify, for a run with branches, finds", () => {
  type Place = { scope: string; seq: number };
  const at = (story: Story, place: Place) => story.world.chain.at({ execution: story.id, ...place });
  const rewrite = (story: Story, place: Place, change: (entry: StoredEntry) => StoredEntry) => {
    const link = at(story, place);
    link.entry = change(link.entry as StoredEntry);
  };
  const inHead = (from: string, to: string) => (entry: StoredEntry) => {
    const head = entry.head.replace(from, to);
    expect(head).not.toBe(entry.head);
    return { ...entry, head, hash: sha256(head) };
  };

  it.each<[string, (story: Story) => void, object]>([
    [
      "an entry whose hashed head was changed",
      (story) =>
        rewrite(story, { scope: "/f@1.a", seq: 1 }, (entry) => ({ ...entry, head: entry.head.replace('"a"', '"x"') })),
      { scope: "/f@1.a", seq: 1, message: expect.stringContaining("it was changed") },
    ],
    [
      "an entry whose head was changed and whose hash was computed again",
      (story) => rewrite(story, { scope: "/f@1.a", seq: 1 }, inHead('"execution_time_ms":1', '"execution_time_ms":2')),
      { seq: 2, message: expect.stringContaining("the branches that it lists end otherwise") },
    ],
    [
      "a branch whose last entry was deleted",
      (story) => delete at(story, { scope: "/m@3.1", seq: 1 }).entry,
      { seq: 4, message: "it counts other entries than its branches have" },
    ],
    [
      "an entry that was added to a branch",
      (story) =>
        (at(story, { scope: "/m@3.1", seq: 2 }).entry = at(story, { scope: "/m@3.0", seq: 1 }).entry as StoredEntry),
      { scope: "/m@3.1", seq: 2 },
    ],
    [
      "a first entry of a branch that was copied from another branch",
      (story) =>
        rewrite(story, { scope: "/m@3.0", seq: 1 }, () => at(story, { scope: "/m@3.1", seq: 1 }).entry as StoredEntry),
      { scope: "/m@3.0", seq: 1, message: expect.stringMatching(/^it is link 1 of branch \/m@3.1 .* copied/) },
    ],
    [
      "a changed result of a branch",
      (story) =>
        rewrite(story, { scope: "/f@1.b", seq: 1 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, context: { text: "{}" } },
        })),
      { scope: "/f@1.b", seq: 1, message: "its context was changed: the digest in its head is another" },
    ],
    [
      "changed items of a map",
      (story) =>
        rewrite(story, { scope: "", seq: 3 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, items: { text: "{}" } },
        })),
      { seq: 3, message: "its items was changed: the digest in its head is another" },
    ],
    [
      "a changed list of branches of a fork",
      (story) =>
        rewrite(story, { scope: "", seq: 2 }, (entry) => ({
          ...entry,
          contents: { ...entry.contents, branches: { text: "[]" } },
        })),
      { seq: 2 },
    ],
  ])("%s", async (_what, tamper, problem) => {
    const story = await ran();
    expect(await story.verify()).toMatchObject({ state: "anchored", links: 11 });
    tamper(story);
    expect(await story.verify()).toMatchObject({ state: "broken", problem });
  });

  it("a changed item in the short list of a map, which its entry stores inline", async () => {
    const story = await ran();
    rewrite(story, { scope: "", seq: 3 }, (entry) => {
      const { text } = entry.contents.items as { text: string };
      expect(text).toContain("1.50");
      return { ...entry, contents: { ...entry.contents, items: { text: text.replace("1.50", "2.50") } } };
    });
    const message = expect.stringContaining("was changed");
    expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 3, message } });
  });

  it("a changed item in the long list of a map, which a page stores", async () => {
    const story = await ran(JSON.stringify(Array.from({ length: 300 }, (_, index) => index)));
    const { items } = (at(story, { scope: "", seq: 3 }).entry as StoredEntry).contents;
    const page = items && "text" in items ? JSON.parse(items.text).pages[0].sha256 : "";
    const [key] = Array.from(story.world.blobs.blobs.keys()).filter((name) => name.endsWith(page));
    story.world.blobs.blobs.set(key as string, Buffer.from("[1,2]"));
    expect(await story.verify()).toMatchObject({ state: "broken", problem: { seq: 3, blob: page } });
  });
});
