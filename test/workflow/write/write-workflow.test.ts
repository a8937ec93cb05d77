import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseWorkflow, readWorkflowSource, type Workflow, workflowText, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { root } from "../../support/imports.ts";

const examples = ["hello", "approval", "batch", "invoice", "invoice-ai", "chain", "invoice-text"].map(
  (name) => `packages/examples/${name}`,
);
const fixtures = readdirSync(join(root, "test/fixtures/workflows")).map((name) => `test/fixtures/workflows/${name}`);

async function parsedAt(path: string): Promise<Workflow | undefined> {
  return parseWorkflow(await readWorkflowSource(join(root, path))).workflow;
}

function again(workflow: Workflow): Workflow {
  const { workflow: same, findings } = parseWorkflow(writeWorkflow(workflow));
  if (!same) throw new RangeError(JSON.stringify(findings));
  return same;
}

function parsed(definition: object): Workflow {
  const { workflow, findings } = parseWorkflow({
    text: JSON.stringify(definition),
    fileName: "workflow.json",
    files: {},
  });
  if (!workflow) throw new RangeError(JSON.stringify(findings));
  return workflow;
}

describe("a workflow that is written and parsed again", () => {
  it.each([...examples, ...fixtures])("is the same: %s", async (path) => {
    const workflow = await parsedAt(path);
    if (workflow)
      expect(workflowText(again(workflow))).toBe(workflowText({ ...workflow, triggers: undefined as never }));
  });

  const start = { id: "start", type: "start" };
  const end = { id: "end", type: "end" };
  const row = (node: object, more: object = {}) => ({
    id: "w",
    nodes: [start, { id: "n", ...node }, end],
    edges: [
      { from: "start", to: "n" },
      { from: "n", to: "end" },
    ],
    ...more,
  });
  const item = [
    { id: "a", type: "action", code: "x = 1" },
    { id: "b", type: "action", code: "y = 1" },
  ];
  const body = { nodes: item, edges: [{ from: "a", to: "b" }] };

  it.each<[string, object]>([
    ["all settings of code", { type: "action", code: "x = 1", timeout: 9, effects: false, isolation: "fresh" }],
    ["a retry", { type: "action", code: "x = 1", effects: false, retry: { attempts: 3, delay: 2 } }],
    ["credentials of a node", { type: "action", code: "x = 1", credentials: ["email"] }],
    ["a prompt", { type: "action", executor: "prompt", prompt: "Add.", ai: { samples: false }, model: "m" }],
    ["a text", { type: "action", executor: "text", prompt: "Say {start}.", system: "Be short.", max_chars: 9 }],
    ["an answer", { type: "action", executor: "text", prompt: "Say.", output_schema: { type: "object" }, into: "x" }],
    [
      "a text's model",
      { type: "action", executor: "text", prompt: "Say.", llm_config: { model: "m", temperature: 0 } },
    ],
    [
      "marks",
      { type: "action", executor: "text", prompt: "Say.", model: "m", on_missing: "mark", retry: { attempts: 2 } },
    ],
    ["names", { type: "action", code: "x = 1", input_keys: { a: "start:b", c: "start" } }],
    ["keys", { type: "action", code: "x = 1", input_keys: ["a", "b"] }],
    ["a limit", { type: "action", executor: "prompt", prompt: "Add.", limits: { max_cost_usd: 0.5 } }],
    ["models by role", { type: "action", executor: "prompt", prompt: "Add.", model: { code_generator: "m" } }],
    ["a network", { type: "action", executor: "prompt", prompt: "Add.", network: { allow: ["a.example:99"] } }],
    ["a map", { type: "map", items: "list", ...body, max_concurrency: 3, tolerated_failures: 2 }],
    ["a share of failures", { type: "map", items: "list", as: "one", into: "all", ...body, tolerated_failures: "5%" }],
    ["seconds", { type: "wait", seconds: "2m" }],
    ["a time", { type: "wait", until: "{{due}}" }],
    ["an event", { type: "wait", event: { source: ["shop"] }, timeout: "1d", into: "order" }],
    ["another workflow", { type: "workflow", workflow: "other", version: 2, input: { a: "b" }, output: { c: "$" } }],
  ])("keeps %s", (_what, node) => {
    const workflow = parsed(row(node));
    expect(again(workflow)).toEqual(workflow);
  });

  it("keeps the fields of the whole workflow", () => {
    const said = {
      name: "W",
      description: "d",
      timeout: 60,
      approval: "required",
      scope: "client",
      credentials: [],
      model: "m",
      limits: { max_cost_usd: 2 },
      requirements: ["rich"],
      inputs: { properties: { total: { type: "number", secret: true } }, required: ["total"] },
    };
    const workflow = parsed(row({ type: "action", code: "x = 1" }, said));
    expect(again(workflow)).toEqual(workflow);
  });

  it("has no triggers, so that a copy starts no runs", () => {
    const workflow = parsed(row({ type: "action", code: "x = 1" }));
    const triggers = [{ id: "schedule-1", type: "schedule" }] as unknown as NonNullable<Workflow["triggers"]>;
    expect(again({ ...workflow, triggers }).triggers).toBeUndefined();
  });
});
