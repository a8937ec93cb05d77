import {
  answerTask,
  type RestartRequest,
  readTrace,
  restartExecution,
  startExecution,
  type Trace,
  type WorkflowVersion,
} from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { referenceUnchanged, type UnchangedNodes } from "../../packages/engine/src/restart/reuse.ts";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { action, between, ways } from "../support/forked.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/** Code that sets a random number, so that an equal number in a restart proves that the outcome was reused. */
const random = (key: string) => `import random; context['${key}'] = random.random()`;
/** Code that fails until a patch removes `bad`. */
const fragile = (key: string) => `if context['bad']: raise ValueError('bad')\n${random(key)}`;

async function restart(of: Trace, version: WorkflowVersion, more: Partial<RestartRequest> = {}) {
  const { execution, forecast } = await restartExecution(cloud.ports, {
    source: of.execution,
    version,
    by: "user:test",
    ...more,
  });
  await cloud.untilEnd(execution.id);
  return { trace: await readTrace(cloud.ports, execution.id, { full: true }), forecast };
}

const values = ({ context }: Trace) => JSON.parse(context.text) as Record<string, unknown>;
const reused = ({ entries }: Trace) => entries.flatMap(({ node_id, reused_from }) => (reused_from ? [node_id] : []));

describe("a restart of a failed run", { timeout: 60_000 }, () => {
  it("continues at the failed node and reuses the outcomes of the nodes before it", async () => {
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

  it("with a map runs only the failed items and the nodes after the map", async () => {
    const version = await cloud.publish({
      id: "items",
      nodes: [
        { id: "start", type: "start" },
        {
          id: "each",
          type: "map",
          items: "list",
          as: "item",
          into: "all",
          // All items before the failing item have ended when it fails.
          max_concurrency: 1,
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

  it("continues inside the inner run of a workflow node if that inner run failed", async () => {
    await cloud.publish(inARow("inner", { one: random("a"), two: fragile("b"), three: random("c") }));
    const calls = { type: "workflow", workflow: "inner", output: { a: "a", b: "b", c: "c" } };
    const version = await cloud.publish(inARow("outer", { make: random("m"), bill: calls, after: random("z") }));
    const failed = await cloud.run(version, '{"bad": true}');
    const { trace } = await restart(failed, version, { patch: '{"bad": false}' });
    expect(trace.execution.status).toBe("completed");
    expect(reused(trace)).toEqual(["make"]);
    const { child } = entryOf(trace, "bill");
    const record = await cloud.ports.executions.get(child?.execution_id ?? "");
    expect(record?.restartedFrom).toBe(entryOf(failed, "bill").child?.execution_id);
    expect(child?.entries?.map(({ node_id, reused_from }) => reused_from && node_id)).toEqual([
      null,
      "one",
      null,
      null,
      null,
      null,
    ]);
    expect(await verified(cloud, trace)).toBe("anchored");
    const inside = await restart(trace, version, { from: "bill/three" });
    expect(values(inside.trace)).toMatchObject({ a: values(trace).a, b: values(trace).b });
    expect(values(inside.trace).c).not.toBe(values(trace).c);
    const behind = await restart(inside.trace, version, { from: "after" });
    expect(reused(behind.trace)).toEqual(["make", "bill"]);
    expect(entryOf(behind.trace, "bill").child?.execution_id).toBe(entryOf(inside.trace, "bill").child?.execution_id);
    expect(await verified(cloud, behind.trace)).toBe("anchored");
  });

  it("can start at one visit of a node in a loop", async () => {
    const version = await cloud.publish({
      id: "poll",
      nodes: [
        { id: "start", type: "start" },
        {
          id: "ask",
          type: "action",
          code: "import random; context['asked'] = context.get('asked', []) + [random.random()]",
        },
        { id: "enough", type: "decision", code: "context['branch_decision'] = len(context['asked']) >= 3" },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "ask" },
        { from: "ask", to: "enough" },
        { from: "enough", to: "ask", condition: false, max: 5 },
        { from: "enough", to: "end", condition: true },
      ],
    });
    const run = await cloud.run(version);
    const { trace, forecast } = await restart(run, version, { from: "ask#2" });
    expect(forecast).toMatchObject({ reused: ["ask", "enough"], runs: ["ask", "enough"] });
    const [before, after] = [values(run).asked, values(trace).asked] as number[][];
    expect(after?.map((one, i) => one === before?.[i])).toEqual([true, false, false]);
    expect(reused(trace)).toEqual(["ask", "enough"]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("with parallel branches runs only the failed branch and the nodes after the join", async () => {
    const version = await cloud.publish({
      id: "checks",
      nodes: [
        { id: "start", type: "start" },
        { id: "fan", type: "action", code: random("f") },
        { id: "left", type: "action", code: random("l") },
        { id: "right", type: "action", code: fragile("r") },
        { id: "after", type: "action", code: random("z") },
        { id: "end", type: "end" },
      ],
      edges: [
        ...["fan", "left", "right"].slice(1).map((to) => ({ from: "fan", to })),
        ...["left", "right"].map((from) => ({ from, to: "after" })),
        { from: "start", to: "fan" },
        { from: "after", to: "end" },
      ],
    });
    const failed = await cloud.run(version, '{"bad": true}');
    const { trace, forecast } = await restart(failed, version, { patch: '{"bad": false}' });
    expect(forecast.runs).toEqual(["right", "after"]);
    expect(values(trace)).toMatchObject({ f: values(failed).f });
    expect(trace.execution.status).toBe("completed");
    const last = await restart(trace, version, { from: "after" });
    expect(last.forecast).toMatchObject({ reused: ["fan", "left", "right"], runs: ["after"] });
    const { z: _, ...same } = values(trace);
    expect(values(last.trace)).toMatchObject(same);
    expect(last.trace.execution.nodes).toBe(1);
    const branch = await restart(trace, version, { from: "left" });
    expect(values(branch.trace).r).toBe(values(trace).r);
    expect(values(branch.trace).l).not.toBe(values(trace).l);
    expect(values(branch.trace).z).not.toBe(values(trace).z);
    for (const one of [trace, last.trace, branch.trace]) expect(await verified(cloud, one)).toBe("anchored");
  });

  it("repeats approvals and waits only if the user asks for it", { tags: ["deep"] }, async () => {
    const version = await cloud.publish({
      id: "asks",
      nodes: [
        { id: "start", type: "start" },
        { id: "manager", type: "approval", message: "Pay?", timeout: 3600 },
        { id: "pause", type: "wait", seconds: 2 },
        { id: "pay", type: "action", code: random("paid") },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "manager" },
        { from: "manager", to: "pause", condition: "approved" },
        { from: "manager", to: "end", condition: "rejected" },
        { from: "pause", to: "pay" },
        { from: "pay", to: "end" },
      ],
    });
    const approve = (execution: string) =>
      expect
        .poll(
          () =>
            answerTask(cloud.ports, { execution, node: "manager", choice: "approved", by: "ann", from: "test" }).catch(
              () => null,
            ),
          { timeout: 10_000 },
        )
        .not.toBeNull();
    const first = await startExecution(cloud.ports, { version, context: "{}" });
    await approve(first.id);
    await cloud.untilEnd(first.id);
    const run = await readTrace(cloud.ports, first.id, { full: true });
    const began = Date.now();
    const { trace } = await restart(run, version, { from: "pay" });
    expect(reused(trace)).toEqual(["manager", "pause"]);
    expect(Date.now() - began).toBeLessThan(2_000);
    expect(values(trace).manager).toEqual(values(run).manager);
    expect(await verified(cloud, trace)).toBe("anchored");
    const again = await restartExecution(cloud.ports, { source: run.execution, version, again: ["manager"], by: "x" });
    await approve(again.execution.id);
    await cloud.untilEnd(again.execution.id);
    expect(reused(await readTrace(cloud.ports, again.execution.id))).toEqual([]);
  });
});

describe("a restart with another version of the workflow", { timeout: 60_000 }, () => {
  const decides = (edges: object[], nodes: object[] = []) => ({
    id: "versions",
    nodes: [
      { id: "start", type: "start" },
      { id: "one", type: "action", code: random("a") },
      { id: "which", type: "decision", code: "context['branch_decision'] = 'left'" },
      { id: "left", type: "action", code: random("l") },
      { id: "right", type: "action", code: random("r") },
      { id: "end", type: "end" },
      ...nodes,
    ],
    edges: [{ from: "start", to: "one" }, { from: "left", to: "end" }, { from: "right", to: "end" }, ...edges],
  });
  const way = (from: string, to: string, condition?: string) => ({ from, to, ...(condition && { condition }) });
  const choices = [way("which", "left", "left"), way("which", "right", "right")];

  it("reuses the outcomes of nodes that come after a new node", async () => {
    const run = await cloud.run(await cloud.publish(decides([way("one", "which"), ...choices])));
    const added = decides(
      [way("one", "new"), way("new", "which"), ...choices],
      [{ id: "new", type: "action", code: random("n") }],
    );
    const { trace, forecast } = await restart(run, await cloud.publish(added), { from: "left" });
    expect(forecast).toMatchObject({ reused: ["one", "which"], runs: ["new", "left"], misfits: [] });
    expect(trace.path).toEqual(["start", "one", "new", "which", "left", "end"]);
    expect(reused(trace)).toEqual(["one", "which"]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("is refused if the recorded outcomes do not fit the version", async () => {
    const run = await cloud.run(await cloud.publish(decides([way("one", "which"), ...choices])));
    const refusal = async (workflow: object) => {
      const version = await cloud.publish(workflow);
      const asked = { source: run.execution, version, from: "left", by: "x" };
      return restartExecution(cloud.ports, asked).catch(({ message }) => message);
    };
    const renamed = decides([way("one", "which"), way("which", "left", "other"), way("which", "right", "right")]);
    expect(await refusal(renamed)).toMatch(
      /does not fit exec_\w+: which: the version has no edge for "left" here - restart from before that/,
    );
    const { nodes } = decides([]);
    const without = (nodes as { id: string }[]).filter(({ id }) => id !== "which" && id !== "right");
    const edges = [way("start", "one"), way("one", "left"), way("left", "end")];
    const shorter = { id: "versions", nodes: without, edges };
    expect(await refusal(shorter)).toMatch(/: which: no step of the version is this one - restart from before that/);
  });
});

describe("a restart of a run", () => {
  it("is refused without a place to start at, with an unknown place, or with a patch that changes the result of a node", async () => {
    const version = await cloud.publish(inARow("bad", { one: random("a"), two: random("b") }));
    const { execution } = await cloud.run(version, '{"given": 1}');
    const refusal = (more: Partial<RestartRequest>) =>
      restartExecution(cloud.ports, { source: execution, version, by: "x", ...more }).catch(({ message }) => message);
    expect(await refusal({})).toMatch(/was completed - say from which node/);
    expect(await refusal({ from: "three" })).toMatch(/never came to "three" - it came to one, two$/);
    expect(await refusal({ from: "one/x" })).toMatch(/"one" ran no other workflow/);
    expect(await refusal({ again: ["three"] })).toMatch(/never came to a node "three"/);
    expect(await refusal({ from: "two", patch: '{"a": 1}' })).toMatch(/"a", which a node sets .* restart from "one"/);
    expect(await refusal({ from: "two", patch: '{"$a": 1}' })).toMatch(/"\$a"/);
    const { tip: _, ...open } = execution;
    expect(await refusal({ from: "two", source: open })).toMatch(/is open - wait/);
    expect(await refusal({ from: "two", source: { ...execution, erased: true } })).toMatch(/were erased/);
  });
});

describe("a new run that reuses outcomes of an earlier run", { timeout: 60_000 }, () => {
  const unchanged = { one: ["x"], two: ["y"], sum: null };
  const code = {
    one: `${random("a")}; context['x']`,
    two: `${random("b")}; context['y']`,
    sum: "context['sum'] = context['a'] + context['b']",
  };
  const rerun = async (of: Trace, version: WorkflowVersion, context: object, nodes: UnchangedNodes = unchanged) => {
    const outcomes = await referenceUnchanged(cloud.ports, of.execution, nodes, []);
    const { id } = await startExecution(cloud.ports, { version, context: JSON.stringify(context), outcomes });
    await cloud.untilEnd(id);
    const trace = await readTrace(cloud.ports, id);
    expect(await verified(cloud, trace)).toBe("anchored");
    return trace;
  };

  it("runs only nodes that read changed values, and nodes that depend on those nodes", async () => {
    const version = await cloud.publish(inARow("reusing", code));
    const run = await cloud.run(version, '{"x": 1, "y": 1}');
    const same = await rerun(run, version, { x: 1, y: 1 });
    expect(reused(same)).toEqual(["one", "two", "sum"]);
    expect(values(same)).toEqual(values(run));
    const other = await rerun(run, version, { x: 2, y: 1 });
    expect(reused(other)).toEqual(["two"]);
    expect(values(other).b).toBe(values(run).b);
    expect(values(other).a).not.toBe(values(run).a);
    expect(values(other).sum).toBe((values(other).a as number) + (values(other).b as number));
    expect(reused(await rerun(other, version, { x: 2, y: 1 }, { one: ["x"] }))).toEqual(["one"]);
  });

  it("compares the items of a changed list with the earlier items at the same positions", async () => {
    const each = {
      id: "each",
      type: "map",
      items: "list",
      as: "item",
      nodes: [action("draw", random("drawn"))],
      edges: [],
    };
    const version = await cloud.publish(between("drawing", [each], ways("start > each > end")));
    const run = await cloud.run(version, '{"list": [1, 2, 3]}');
    const again = await rerun(run, version, { list: [1, 7, 3, 4] }, { draw: ["item"] });
    const [before, after] = [run, again].map((one) => values(one).results as { drawn: number }[]);
    expect(after?.map(({ drawn }, index) => drawn === before?.[index]?.drawn)).toEqual([true, false, true, false]);
  });
});
