import {
  type GivenOutcomes,
  planRestart,
  readTrace,
  restartExecution,
  Source,
  type StartRequest,
  sha256,
  startExecution,
  type Trace,
  verifyExecution,
  type WorkflowVersion,
} from "@nova/engine";
import { afterAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, verified } from "../../support/cloud.ts";
import { writeOutcome } from "../../support/engine/write-outcome.ts";
import { action, between, ways } from "../../support/forked.ts";

const cloud = await openTestCloud();
afterAll(() => cloud.close());

type Written = Record<string, object>;

async function runWith(
  version: WorkflowVersion,
  document: Written | string,
  { context = "{}", ...more }: Partial<GivenOutcomes> & Partial<Pick<StartRequest, "context">> = {},
): Promise<Trace> {
  const outcomes = { document: typeof document === "string" ? document : JSON.stringify(document), ...more };
  const { id } = await startExecution(cloud.ports, { version, context, outcomes });
  await cloud.untilEnd(id);
  return readTrace(cloud.ports, id, { full: true });
}

const values = ({ context }: Trace) => JSON.parse(context.text) as Record<string, unknown>;
/** Returns code that sets a key. The key shows that the code ran in spite of a recorded outcome. */
const runs = (key: string) => `context['${key}'] = 'ran'`;

describe("a run that reuses outcomes from a document of places", { timeout: 60_000 }, () => {
  it("commits the outcomes of the document with all digits of their numbers, and runs all other nodes", async () => {
    const version = await cloud.publish(
      inARow("row", { one: runs("a"), two: "context['b'] = context['a']['x'] + 1", three: runs("c") }),
    );
    const document = `{"one": {"set": {"a": {"x": 850.0}}, "delete": ["given"]}, "three": {"set": {"c": 12345678901234567890}}}`;
    const trace = await runWith(version, document, { context: '{"given": 1}' });
    expect(trace.context.text).toBe('{"a":{"x": 850.0},"b":851.0,"c":12345678901234567890}');
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 1 });
    expect(entryOf(trace, "one")).toMatchObject({ execution_time_ms: 0, sandbox_id: null, code_hash: null });
    expect(entryOf(trace, "three").code_hash).toBeNull();
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("names the source of each outcome: an earlier execution, or a person", async () => {
    const version = await cloud.publish(inARow("told", { one: "context['a'] = 'x' * 10_000", two: runs("b") }));
    const first = await cloud.run(version);
    const one = (await Source.read(cloud.ports, first.execution.id)).entries.get("one");
    const written = one && (await writeOutcome(cloud.ports, one.head));
    const by = { edited_by: "user:ann", at: "2026-01-02T03:04:05.000Z" };
    const document = `{"one": ${written}, "two": ${JSON.stringify({ set: { b: "by hand" }, from: by })}}`;
    const trace = await runWith(version, document, { root: first.execution.root });
    expect(trace.execution.root).toBe(first.execution.id);
    expect(entryOf(trace, "one")).toMatchObject({
      reused_from: { execution_id: first.execution.id, scope: "", seq: 1 },
    });
    expect(entryOf(trace, "two")).toMatchObject({ reused_from: null, edited: { by: "user:ann", at: by.at } });
    expect(values(trace)).toEqual({ a: values(first).a, b: "by hand" });
    expect(await verified(cloud, trace)).toBe("anchored");
    const forged = document.replace(/"bytes":\d+/, '"bytes":10001');
    const other = await runWith(version, forged, { root: first.execution.root });
    expect((await verifyExecution(cloud.ports, other.execution.id)).problem?.message).toMatch(
      /^the outcome of "one" is another than that of link 1 of exec_\w+, which it names$/,
    );
  });

  it("finds outcomes for places in loops, branches and items, even after a node that ran", async () => {
    const version = await cloud.publish(
      between(
        "places",
        [
          action("fan", "context['n'] = context.get('n', 0) + 1"),
          action("left", "context['l'] = 'ran'"),
          action("right", "context['r'] = 'ran'"),
          { id: "enough", type: "decision", code: "context['branch_decision'] = context['n'] >= 2" },
          {
            ...{ id: "each", type: "map", items: "list", as: "item", into: "all" },
            ...{ nodes: [action("square", "context['s'] = context['item'] ** 2")], edges: [] },
          },
        ],
        [
          ...ways("start > fan > left > enough", "fan > right > enough", "each > end"),
          { from: "enough", to: "fan", condition: false, max: 3 },
          { from: "enough", to: "each", condition: true },
        ],
      ),
    );
    const document = {
      left: { set: { l: "first" } },
      "right#2": { set: { r: "second" } },
      "each[1].square": { set: { s: "one" } },
      "each[7].square": { set: { s: "nobody's" } },
    };
    const trace = await runWith(version, document, { context: '{"list": [3, 4, 5]}' });
    expect(values(trace)).toMatchObject({ l: "ran", r: "second", all: [{ s: 9 }, { s: "one" }, { s: 25 }] });
    const forks = trace.entries.filter(({ node_id }) => node_id === "fan");
    const ran = forks.map(({ branches }) => branches?.map(({ entries }) => entries[0]?.code_hash !== null));
    expect(ran).toEqual([
      [false, true],
      [true, false],
    ]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("follows the edges for the decisions and the failures in the document", async () => {
    const version = await cloud.publish(
      between(
        "ways",
        [
          { id: "which", type: "decision", code: "context['branch_decision'] = 'left'" },
          action("left", runs("l")),
          action("right", runs("r"), { onError: "sorry" }),
          action("sorry", "context['why'] = context['error']['message']"),
        ],
        [
          ...ways("start > which", "left > end", "right > end", "sorry > end"),
          { from: "which", to: "left", condition: "left" },
          { from: "which", to: "right", condition: "right" },
        ],
      ),
    );
    const failure = { error: { class: "NodeTimeout", message: "it took too long" } };
    const trace = await runWith(version, { which: { decision: "right" }, right: failure });
    expect(trace.path).toEqual(["start", "which", "right", "sorry", "end"]);
    expect(values(trace)).toEqual({ why: "it took too long" });
    const last = await runWith(version, { left: failure });
    expect(last.execution).toMatchObject({ status: "failed", error: { node: "left", class: "NodeTimeout" } });
    const unfit = await runWith(version, { which: { decision: "up" } });
    expect(unfit.path).toEqual(["start", "which", "left", "end"]);
    expect(await verified(cloud, last)).toBe("anchored");
  });

  it("takes the default edge if the document names a loop edge that the run has already taken `max` times", async () => {
    const choice = { id: "more", type: "decision", code: "context['branch_decision'] = 'again'" };
    const loop = (max: number) => [
      ...ways("start > step > more"),
      { from: "more", to: "step", condition: "again", max },
      { from: "more", to: "end", condition: "default" },
    ];
    const version = await cloud.publish(between("worn-out", [action("step", runs("a")), choice], loop(1)));
    const again = { decision: "again" };
    const written = await runWith(version, { more: again, "more#2": again });
    expect(written.path).toEqual(["start", "step", "more", "step", "more", "end"]);
    expect(written.entries.map((entry) => entry.decision_result).filter(Boolean)).toEqual(["again", "default"]);
    expect(await verified(cloud, written)).toBe("anchored");
    const patient = await cloud.publish(between("worn-out", [action("step", runs("a")), choice], loop(2)));
    const source = await Source.read(cloud.ports, (await cloud.run(patient)).execution.id);
    const links = ["more", "more#2"].map(async (name) => {
      const link = source.entries.get(name);
      return `"${name}": ${link && (await writeOutcome(cloud.ports, link.head))}`;
    });
    const taken = await runWith(version, `{${(await Promise.all(links)).join(", ")}}`);
    const choices = taken.entries.filter(({ node_id }) => node_id === "more");
    expect(choices).toMatchObject([
      { decision_result: "again", code_hash: null },
      { decision_result: "default", reused_from: null, code_hash: expect.any(String) },
    ]);
    expect(await verified(cloud, taken)).toBe("anchored");
  });

  it("reuses the outcome of a workflow node, or outcomes of nodes inside its workflow", async () => {
    await cloud.publish(inARow("inner", { one: runs("a"), two: runs("b") }));
    const calls = { type: "workflow", workflow: "inner", output: { a: "a", b: "b" } };
    const version = await cloud.publish(inARow("outer", { bill: calls, after: runs("z") }));
    const whole = await runWith(version, { bill: { set: { a: 1, b: 2 } } });
    expect(values(whole)).toEqual({ a: 1, b: 2, z: "ran" });
    expect(entryOf(whole, "bill").child).toBeUndefined();
    const inside = await runWith(version, { "bill/two": { set: { b: 2 } } });
    expect(values(inside)).toEqual({ a: "ran", b: 2, z: "ran" });
    for (const one of [whole, inside]) expect(await verified(cloud, one)).toBe("anchored");
  });
});

describe("the document with the reused outcomes of a restart", { timeout: 60_000 }, () => {
  it("equals the document that a dry run shows, and is stored as a blob of the new run", async () => {
    const fails = "if context['bad']: raise ValueError('bad')";
    const version = await cloud.publish(inARow("planned", { one: runs("a"), two: runs("b"), three: fails }));
    const { execution: source } = await cloud.run(version, '{"bad": true}');
    const request = { source, version, patch: '{"bad": false}', by: "user:ann" };
    const { document, forecast } = await planRestart(cloud.ports, request);
    expect(JSON.parse(document)).toEqual({ one: { from: `${source.id}#1` }, two: { from: `${source.id}#2` } });
    expect(Object.keys(JSON.parse(document))).toEqual(forecast.reused);
    const { execution } = await restartExecution(cloud.ports, request);
    const { entry } = await cloud.ports.chain.read({ execution: execution.id, scope: "", seq: 0 });
    expect(JSON.parse(entry?.head ?? "{}").plan).toEqual({
      outcomes: sha256(document),
      after: source.id,
      tip: source.tip,
      patch: { keys: ["bad"], by: "user:ann" },
    });
    await cloud.untilEnd(execution.id);
    const restarted = await readTrace(cloud.ports, execution.id, { full: true });
    expect(restarted.execution).toMatchObject({ status: "completed", nodes: 1 });
    const second = await restartExecution(cloud.ports, { ...request, source: restarted.execution, from: "two" });
    await cloud.untilEnd(second.execution.id);
    const trace = await readTrace(cloud.ports, second.execution.id, { full: true });
    expect(JSON.parse(second.document)).toEqual({ one: { from: `${execution.id}#1` } });
    expect(entryOf(trace, "one").reused_from).toMatchObject({ execution_id: source.id, seq: 1 });
    for (const one of [restarted, trace]) expect(await verified(cloud, one)).toBe("anchored");
  });

  it("has the places inside a workflow node if the inner execution of this node failed", async () => {
    await cloud.publish(inARow("inner", { one: runs("a"), two: "1 / 0" }));
    const version = await cloud.publish(inARow("outer", { bill: { type: "workflow", workflow: "inner" } }));
    const { execution: source, entries } = await cloud.run(version);
    const child = entries.find(({ node_id }) => node_id === "bill")?.child?.execution_id;
    const { document, forecast } = await planRestart(cloud.ports, { source, version, by: "user:ann" });
    expect(JSON.parse(document)).toEqual({ "bill/": { from: `${child}#3` }, "bill/one": { from: `${child}#1` } });
    expect(forecast).toMatchObject({ reused: [], runs: ["bill"] });
  });
});

describe("a run with the option `sealed`", { timeout: 60_000 }, () => {
  const sealed = true;

  it("runs a node without a recorded outcome only if it has no effects, and otherwise fails at this node", async () => {
    const version = await cloud.publish(
      inARow("sealed", { one: { code: runs("a"), effects: false }, two: runs("b"), three: runs("c") }),
    );
    const trace = await runWith(version, { two: { set: { b: "recorded" } } }, { sealed });
    expect(values(trace)).toEqual({ a: "ran", b: "recorded" });
    expect(trace.execution.error).toMatchObject({
      node: "three",
      message: expect.stringMatching(/nothing is on record that fits.*: three$/),
    });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("asks no person, does not wait, and starts no other workflow", async () => {
    await cloud.publish(inARow("inner", { one: runs("a") }));
    const rest = {
      ask: { type: "approval", message: "Pay?" },
      pause: { type: "wait", seconds: 3600 },
      bill: { type: "workflow", workflow: "inner" },
    };
    for (const [id, node] of Object.entries(rest)) {
      const decided = id === "ask" ? { from: id, to: "end", condition: "default" } : { from: id, to: "end" };
      const version = await cloud.publish(
        between(`sealed-${id}`, [{ id, ...node }], [{ from: "start", to: id }, decided]),
      );
      const trace = await runWith(version, {}, { sealed });
      expect(trace.execution.error).toMatchObject({ node: id, message: expect.stringMatching(new RegExp(`: ${id}$`)) });
    }
    const version = await cloud.publish(inARow("calling", { bill: rest.bill }));
    const inner = await runWith(version, { "bill/nothing": {} }, { sealed });
    expect(inner.execution.error?.message).toMatch(/: bill\/one$/);
  });

  it("gives its code no network and no credentials", async () => {
    const code = `
import socket
try:
    socket.create_connection(('127.0.0.1', ${new URL(cloud.environment.AWS_ENDPOINT_URL_S3 ?? "").port}), 2)
    context['network'] = True
except OSError:
    context['network'] = False
context['keys'] = sorted(context)`;
    const version = await cloud.publish(inARow("walled", { one: { code, effects: false, credentials: ["crm"] } }));
    expect(values(await runWith(version, {}, { sealed }))).toEqual({ network: false, keys: ["network"] });
  });
});

describe("a document of places", () => {
  it.each([
    ["[]", /no object/],
    ["{", /no JSON/],
    ['{"one": 1}', /the outcome of "one"/],
    ['{"one": {"sets": {}}}', /the outcome of "one".*sets/],
    ['{"one": {"set": {"$blob": 1}}}', /"one" sets "\$blob"/],
    ['{"one": {"set": {"a": 1}, "error": {"class": "NodeFailed", "message": "x"}}}', /is an error, and sets keys/],
    ['{"one": {"error": {"class": "Nobody", "message": "x"}}}', /the outcome of "one": error: class/],
    ['{"one": {"from": {"execution_id": "exec_1", "scope": "", "seq": 1, "hash": "x"}}}', /the outcome of "one": from/],
  ])("is refused with an explanation if it is %s", async (document, message) => {
    const version = await cloud.publish(inARow("refusing", { one: runs("a") }));
    const { length } = await cloud.ports.executions.list({ workflow: "refusing" }).then(({ items }) => items);
    await expect(runWith(version, document)).rejects.toThrow(message);
    expect((await cloud.ports.executions.list({ workflow: "refusing" })).items.length).toBe(length);
  });
});
