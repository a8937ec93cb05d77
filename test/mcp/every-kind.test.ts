import { afterAll, beforeAll, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { toolNode } from "../support/agent.ts";
import { inARow } from "../support/cloud.ts";
import { type Connected, connectOverHttp } from "./support/connect.ts";

const api = useApi();
let editor: Connected;

beforeAll(async () => {
  editor = await connectOverHttp(api.url, await api.key("editor"));
  await api.cloud.publish(inARow("other", { add: 'context["other"] = 1' }));
});
afterAll(() => editor[Symbol.asyncDispose]());

const lookUp = toolNode("look_up", 'context["order"] = context["id"]', { id: { type: "integer" } });
const body = { nodes: [{ id: "double", type: "action", code: 'context["two"] = context["item"] * 2' }], edges: [] };

/** A node of each kind. The path of the run does not contain the agent `resolve`, so that no model is asked. */
const nodes: object[] = [
  { id: "count", code: 'context["n"] = context.get("n", 0) + 1' },
  { id: "is_enough", type: "decision", code: 'context["branch_decision"] = "no" if context["n"] < 3 else "yes"' },
  { id: "each", type: "map", items: "list", ...body },
  { id: "left", code: 'context["left"] = 1' },
  { id: "right", code: 'context["right"] = 2' },
  { id: "join", code: 'context["sum"] = context["left"] + context["right"]' },
  { id: "call", type: "workflow", workflow: "other" },
  { id: "pause", type: "wait", seconds: 1 },
  { id: "resolve", executor: "agent", prompt: "Resolve {start.case}.", tools: ["look_up"] },
  lookUp,
  { id: "resolve_code", code: 'context["resolve"] = str(tools.look_up(id=7)["order"])', fallback: "resolve" },
  { id: "ask", type: "approval", message: "Well?", choices: ["yes", "no"] },
];

const triggers = async () => (await api.call("GET /workflows/every-kind")).body.definition.triggers ?? [];

const path = ["count", "is_enough", "each", "left", "join", "call", "pause", "resolve_code", "ask"];
const edges: object[] = [
  { from: "start", to: "count" },
  { from: "count", to: "is_enough" },
  { from: "is_enough", to: "count", condition: "no", max: 5 },
  { from: "is_enough", to: "each", condition: "default" },
  { from: "each", to: "left" },
  { from: "each", to: "right" },
  { from: "left", to: "join" },
  { from: "right", to: "join" },
  { from: "join", to: "call" },
  { from: "call", to: "pause" },
  { from: "pause", to: "resolve_code" },
  { from: "resolve_code", to: "ask" },
  { from: "ask", to: "end", condition: "yes" },
  { from: "ask", to: "end", condition: "default" },
];

it("a workflow with a trigger, a loop, a map, branches and every kind of node is made, published, run and changed by edits", async () => {
  const settings = {
    triggers: [{ type: "schedule", cron: "0 9 * * ? *", timezone: "Europe/Madrid" }],
    inputs: { type: "object", properties: { list: { type: "array" }, case: { type: "string" } } },
  };
  const operations = [
    { op: "change_settings", changes: settings },
    { op: "add_node", node: { id: "start", type: "start" } },
    { op: "add_node", node: { id: "end", type: "end" } },
    ...nodes.map((node) => ({ op: "add_node", node })),
    ...edges.map((edge) => ({ op: "add_edge", ...edge })),
  ];
  const made = await editor.call("edit", { operations, context: '{"list":[1,2],"case":"x"}' });
  expect(made.findings).toEqual([expect.objectContaining({ code: "NOVA433", severity: "warning" })]);
  const tried = await editor.call("run", { draft: made.draft });
  expect([tried.verdict, tried.error]).toEqual(["waiting", null]);
  const { version } = await editor.call("publish", { draft: made.draft, workflow: "every-kind" });
  expect(version).toBe(1);
  const { definition } = await editor.call("read", { workflow: "every-kind" });
  expect(await triggers()).toMatchObject([{ type: "schedule", timezone: "Europe/Madrid" }]);
  const published = JSON.parse(definition);
  expect(published).toMatchObject(settings);
  expect(published.edges).toContainEqual({ from: "is_enough", to: "count", condition: "no", max: 5 });
  const copy = await editor.call("edit", { workflow: "every-kind", operations: [] });
  expect(JSON.parse((await editor.call("read", { draft: copy.draft })).definition)).toMatchObject(settings);

  const ran = await editor.call("run", { workflow: "every-kind", context: '{"list":[1,2],"case":"x"}' });
  expect([ran.verdict, ran.error]).toEqual(["waiting", null]);
  const { items } = await editor.call("tasks", { execution_id: ran.execution_id });
  await editor.call("answer", { task_id: items[0].task_id, choice: "yes" });
  await api.cloud.untilEnd(ran.execution_id);
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await editor.call("trace", { execution_id: ran.execution_id, ...(cursor && { cursor }) });
    expect(page.status).toBe("completed");
    seen.push(...page.entries.map(({ node }: { node: string }) => node));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(expect.arrayContaining([...path, "right", "double", "look_up"]));
  expect(seen.filter((node) => node === "count")).toHaveLength(3);

  const { draft } = await editor.call("edit", {
    workflow: "every-kind",
    operations: [
      { op: "remove_edge", from: "is_enough", to: "count", condition: "no" },
      { op: "add_edge", from: "is_enough", to: "count", condition: "no", max: 9 },
      { op: "change_node", id: "each", changes: { max_concurrency: 2 } },
      { op: "change_node", id: "double", changes: { code: 'context["two"] = 2' } },
      { op: "add_node", map: "each", node: { id: "log", code: "pass" } },
      { op: "add_edge", from: "double", to: "log" },
      { op: "change_settings", changes: { triggers: [], inputs: null } },
    ],
  });
  await editor.call("publish", { draft });
  const changed = JSON.parse((await editor.call("read", { workflow: "every-kind" })).definition);
  expect(changed.edges).toContainEqual({ from: "is_enough", to: "count", condition: "no", max: 9 });
  expect(changed.nodes).toContainEqual(expect.objectContaining({ id: "each", max_concurrency: 2 }));
  expect(changed.nodes.find(({ id }: { id: string }) => id === "each")).toMatchObject({
    nodes: [{ id: "double", code: 'context["two"] = 2' }, { id: "log" }],
    edges: [{ from: "double", to: "log" }],
  });
  expect([await triggers(), changed.inputs]).toEqual([[], undefined]);
  expect(changed.nodes).toContainEqual(expect.objectContaining({ id: "resolve", tools: ["look_up"] }));
}, 120_000);

it("an edit that changes `nodes` as a setting is refused, and the error names the operation for nodes", async () => {
  const operations = [{ op: "change_settings", changes: { nodes: [] } }];
  expect(await editor.refusal("edit", { operations })).toMatch(/"nodes" is no setting - use add_node/);
});
