import {
  diffExecutions,
  type NodeDiff,
  renderJson,
  restartExecution,
  type Trace,
  type WorkflowVersion,
} from "@nova/engine";
import { membersOf } from "@nova/workflow";
import { afterAll, describe, expect, it } from "vitest";
import { differences, type Output } from "../../../packages/engine/src/restart/diff.ts";
import { inARow, openTestCloud } from "../../support/cloud.ts";

const cloud = await openTestCloud();
afterAll(() => cloud.close());

async function diff(a: Trace, b: Pick<Trace, "execution">): Promise<Record<string, NodeDiff>> {
  const nodes = await diffExecutions(cloud.ports, a.execution.id, b.execution.id);
  return Object.fromEntries(nodes.map((node) => [node.place, JSON.parse(renderJson(node))]));
}

const same = { same: true, was: expect.any(String), is: expect.any(String) };
const other = { ...same, same: false };

const choosing = (threshold: number): object => ({
  id: "choosing",
  nodes: [
    { id: "start", type: "start" },
    { id: "sum", type: "action", code: "context['total'] = sum(context['list'])" },
    {
      ...{ id: "judge", type: "decision" },
      code: `context['branch_decision'] = 'high' if context['total'] > ${threshold} else 'low'`,
    },
    { id: "high", type: "action", code: "context['word'] = 'much'" },
    { id: "low", type: "action", code: "context['word'] = 'little'" },
    { ...{ id: "each", type: "map", items: "list", as: "item", into: "all" }, ...squares },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "sum" },
    { from: "sum", to: "judge" },
    { from: "judge", to: "high", condition: "high" },
    { from: "judge", to: "low", condition: "low" },
    { from: "high", to: "each" },
    { from: "low", to: "each" },
    { from: "each", to: "end" },
  ],
});
const squares = { nodes: [{ id: "square", type: "action", code: "context['n'] = context['item'] ** 2" }], edges: [] };

describe("two compared executions", { timeout: 60_000 }, () => {
  it("differ only in their times if their nodes had the same outcomes", async () => {
    const version = await cloud.publish(choosing(5));
    const [a, b] = [await cloud.run(version, '{"list": [1, 2]}'), await cloud.run(version, '{"list": [1, 2]}')];
    const found = await diff(a, b);
    expect(Object.keys(found)).toEqual([
      ...["start", "sum", "judge", "low", "each", "each[0].square", "each[1].square", "end"],
    ]);
    for (const node of Object.values(found)) {
      expect(node).toMatchObject({ path: "both", definition: same, code: { same: true }, context: [] });
      expect(node.cost).toEqual({ was: cost, is: cost });
    }
    expect([found.sum?.code, found.each?.code]).toEqual([same, { same: true, was: null, is: null }]);
  });
  const cost = { cost_usd: 0, execution_time_ms: expect.any(Number) };

  it("differ in the edges that they took, in their code and in the values that nodes set", async () => {
    const a = await cloud.run(await cloud.publish(choosing(5)), '{"list": [1, 2]}');
    const b = await cloud.run(await cloud.publish(choosing(3)), '{"list": [1, 3, 2.50]}');
    const found = await diff(a, b);
    expect(Object.keys(found)).toEqual([
      ...["start", "sum", "judge", "high", "low", "each", "each[0].square", "each[1].square", "each[2].square", "end"],
    ]);
    expect(found.start?.context).toEqual([{ key: "list", was: [1, 2], is: [1, 3, 2.5] }]);
    expect(found.sum).toMatchObject({ code: same, definition: same, context: [{ key: "total", was: 3, is: 6.5 }] });
    expect(found.judge).toMatchObject({ path: "both", code: other, definition: same });
    expect(found.judge?.context).toEqual([{ key: "branch_decision", was: "low", is: "high" }]);
    expect(found.low).toMatchObject({ path: "only_a", context: [{ key: "word", was: "little", is: null }] });
    expect(found.low?.cost).toEqual({ was: cost, is: null });
    expect(found.high).toMatchObject({ path: "only_b", code: { was: null, is: expect.any(String) } });
    expect(found.each?.context.map(({ key }) => key)).toEqual(["all"]);
    expect(found["each[0].square"]?.context).toEqual([]);
    expect(found["each[1].square"]?.context).toEqual([{ key: "n", was: 4, is: 9 }]);
    expect(found["each[2].square"]?.path).toBe("only_b");
  });

  it("have the same code at reused places if one execution is a restart of the other", async () => {
    const version = (bad: string, timeout: number): Promise<WorkflowVersion> =>
      cloud.publish(inARow("again", { one: "context['a'] = 1", two: { code: bad, timeout } }));
    const failed = await cloud.run(await version("raise ValueError('bad')", 60), '{"password": "x"}');
    const { execution } = await restartExecution(cloud.ports, {
      ...{ source: failed.execution, version: await version("context['b'] = 2", 61), by: "user:test" },
    });
    await cloud.untilEnd(execution.id);
    const found = await diff(failed, { execution });
    expect(found.one).toMatchObject({ path: "both", code: same, context: [], cost: { is: { execution_time_ms: 0 } } });
    expect(found.two).toMatchObject({ path: "both", code: other, definition: other });
    expect(found.two?.context).toEqual([
      { key: "b", was: null, is: 2 },
      { key: "error", was: { class: "NodeFailed", message: expect.stringContaining("bad") }, is: null },
    ]);
  });

  it("are compared together with the executions that their nodes ran", async () => {
    await cloud.publish(inARow("inner", { send: "context['sent'] = context['to']" }));
    const outer = await cloud.publish({
      id: "outer",
      nodes: [
        { id: "start", type: "start" },
        { id: "billing", type: "workflow", workflow: "inner", input: { to: "to" }, output: { bill: "sent" } },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "billing" },
        { from: "billing", to: "end" },
      ],
    });
    const [a, b] = [await cloud.run(outer, '{"to": "ann"}'), await cloud.run(outer, '{"to": "bob"}')];
    const found = await diff(a, b);
    expect(found["billing/send"]).toMatchObject({ path: "both", context: [{ key: "sent", was: "ann", is: "bob" }] });
    expect(found.billing?.context.map(({ key }) => key)).toEqual(["bill"]);
  });

  it("are shown with masked secrets, and with the type and the size in place of large values", async () => {
    const inputs = { type: "object", properties: { password: { type: "string", secret: true } } };
    const version = await cloud.publish(
      inARow("large", { one: "context['b'] = context['password'][0] * 9000" }, { inputs }),
    );
    const [a, b] = [await cloud.run(version, '{"password": "abc"}'), await cloud.run(version, '{"password": "bcd"}')];
    const found = await diff(a, b);
    expect(found.start?.context).toEqual([]);
    const large = { $blob: { sha256: expect.any(String), bytes: 9000, type: "text" } };
    expect(found.one?.context).toEqual([{ key: "b", was: large, is: large }]);
  });

  it("cannot be compared if the contents of one execution were erased", async () => {
    const version = await cloud.publish(inARow("gone", { one: "context['b'] = 1" }));
    const [a, b] = [await cloud.run(version), await cloud.run(version)];
    const { executions } = cloud.ports;
    const ports = { ...cloud.ports, executions: Object.create(executions) as typeof executions };
    ports.executions.get = async (id) => {
      const record = await executions.get(id);
      return record && id === b.execution.id ? { ...record, erased: true } : record;
    };
    await expect(diffExecutions(ports, a.execution.id, b.execution.id)).rejects.toThrow(
      `the contents of execution ${b.execution.id} were erased - nova trace ${b.execution.id} shows what is left`,
    );
  });
});

function output(set: string, ...deleted: string[]): Output {
  return { set: membersOf(set), delete: deleted };
}

describe("two compared outputs of a node", () => {
  it.each([
    ["if their texts are the same", '{"a": [1, {"b": "c"}]}', '{"a": [1, {"b": "c"}]}'],
    ["if only the order of their keys differs", '{"a": 1, "b": {"c": 1, "d": 2}}', '{"b": {"d": 2, "c": 1}, "a": 1}'],
    ["if only spaces and escapes differ", '{"a": ["é"]}', '{"a":["\\u00e9"]}'],
  ])("count as the same %s", (_, one, other) => {
    expect(differences(output(one), output(other))).toEqual([]);
  });

  it.each([
    ["a value", '{"a": 1}', '{"a": 2}', [{ key: "a", recorded: "1", now: "2" }]],
    ["a new key", "{}", '{"a": 2}', [{ key: "a", recorded: null, now: "2" }]],
    ["a missing key", '{"a": 1}', "{}", [{ key: "a", recorded: "1", now: null }]],
    ["the order of a list", '{"a": [1,2]}', '{"a": [2,1]}', [{ key: "a", recorded: "[1,2]", now: "[2,1]" }]],
    ["the type of a number", '{"a": 850.0}', '{"a": 850}', [{ key: "a", recorded: "850.0", now: "850" }]],
    [
      "the last digit of a large number",
      '{"a": 12345678901234567890}',
      '{"a": 12345678901234567891}',
      [{ key: "a", recorded: "12345678901234567890", now: "12345678901234567891" }],
    ],
  ])("count as different if they differ in %s", (_, one, other, found) => {
    expect(differences(output(one), output(other))).toEqual(found);
  });

  it("count as different if they delete different keys", () => {
    expect(differences(output("{}", "a", "b"), output("{}", "b"))).toEqual([
      { key: "a", recorded: '"(deleted)"', now: null },
    ]);
  });
});
