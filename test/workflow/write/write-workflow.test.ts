import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type ModelChoice,
  parseWorkflow,
  readWorkflowSource,
  type Workflow,
  workflowHash,
  workflowText,
  writeWorkflow,
} from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { root } from "../../support/imports.ts";
import { action, each, end, type Loose, mustParse, prompt, row, start, wait } from "../definition.ts";

const examples = ["refunds", "approval", "batch", "invoice", "invoice-ai", "chain", "invoice-text"].map(
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

describe("a workflow that is written as a definition and parsed again", () => {
  it.each([...examples, ...fixtures])("is the same workflow: %s", async (path) => {
    const workflow = await parsedAt(path);
    if (workflow)
      expect(workflowText(again(workflow))).toBe(workflowText({ ...workflow, triggers: undefined as never }));
  });

  const body = { nodes: [action("a"), action("b")], edges: [{ from: "a", to: "b" }] };

  it.each<[string, object]>([
    ["all settings of code", { type: "action", code: "x = 1", timeout: 9, effects: false, isolation: "fresh" }],
    ["a retry", { type: "action", code: "x = 1", effects: false, retry: { attempts: 3, delay: 2 } }],
    ["credentials of a node", { type: "action", code: "x = 1", credentials: ["email"] }],
    ["a prompt node", { type: "action", executor: "prompt", prompt: "Add.", ai: { samples: false }, model: "m" }],
    ["a text node", { type: "action", executor: "text", prompt: "Say {start}.", system: "Be short.", max_chars: 9 }],
    [
      "the schema of a text node's answer",
      { type: "action", executor: "text", prompt: "Say.", output_schema: { type: "object" }, into: "x" },
    ],
    [
      "the model of a text node",
      { type: "action", executor: "text", prompt: "Say.", llm_config: { model: "m", temperature: 0 } },
    ],
    [
      "a text node that marks missing values",
      { type: "action", executor: "text", prompt: "Say.", model: "m", on_missing: "mark", retry: { attempts: 2 } },
    ],
    ["input_keys with names", { type: "action", code: "x = 1", input_keys: { a: "start:b", c: "start" } }],
    ["input_keys as a list", { type: "action", code: "x = 1", input_keys: ["a", "b"] }],
    ["a limit of costs", { type: "action", executor: "prompt", prompt: "Add.", limits: { max_cost_usd: 0.5 } }],
    ["models by agent", { type: "action", executor: "prompt", prompt: "Add.", model: { code_generator: "m" } }],
    ["allowed hosts", { type: "action", executor: "prompt", prompt: "Add.", network: { allow: ["a.example:99"] } }],
    ["a map", { type: "map", items: "list", ...body, max_concurrency: 3, tolerated_failures: 2 }],
    [
      "a tolerated percentage of failures",
      { type: "map", items: "list", as: "one", into: "all", ...body, tolerated_failures: "5%" },
    ],
    ["a wait of some seconds", { type: "wait", seconds: "2m" }],
    ["a wait until a time", { type: "wait", until: "{{due}}" }],
    ["a wait for an event", { type: "wait", event: { source: ["shop"] }, timeout: "1d", into: "order" }],
    ["a workflow node", { type: "workflow", workflow: "other", version: 2, input: { a: "b" }, output: { c: "$" } }],
  ])("still has %s", (_what, node) => {
    const workflow = mustParse(row({ id: "n", ...node }));
    expect(again(workflow)).toEqual(workflow);
  });

  it("still has the settings of the workflow", () => {
    const fields = {
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
    const workflow = mustParse({ ...row(action("n")), ...fields });
    expect(again(workflow)).toEqual(workflow);
  });

  it("has no triggers any more, so that a copy of it starts no runs", () => {
    const workflow = mustParse(row(action("n")));
    const triggers = [{ id: "schedule-1", type: "schedule" }] as unknown as NonNullable<Workflow["triggers"]>;
    expect(again({ ...workflow, triggers }).triggers).toBeUndefined();
  });
});

const workflow = mustParse(row(action("a", { name: "A" }), action("b")));

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inside]) => [name, reversed(inside)]),
  );
}

describe("the hash that identifies a version of a workflow", () => {
  it("does not depend on the order of fields, at any depth", () => {
    const other = reversed(workflow) as typeof workflow;
    expect(JSON.stringify(other)).not.toBe(JSON.stringify(workflow));
    expect(workflowText(other)).toBe(workflowText(workflow));
  });

  it("does not depend on aliases, on default values that are written out, or on graph_definition", () => {
    const { nodes: _, ...rest } = row(action("a", { name: "A" }), action("b"));
    const explicit: Loose[] = [
      { ...start, type: "StartNode" },
      action("a", { name: "A", executor: "e2b", timeout: 60 }),
      action("b", { type: "ActionNode", executor: "code" }),
      { ...end, type: "EndNode" },
    ];
    expect(workflowHash(mustParse({ graph_definition: { ...rest, nodes: explicit } }))).toBe(workflowHash(workflow));
  });

  it("does not depend on how a duration is written, or on a tolerance of zero failures that is written out", () => {
    const body = [action("one")];
    const short = mustParse(row(each("m", body), wait("w", { seconds: "2m" })));
    const tolerant = { tolerated_failures: "0%", max_concurrency: 5, as: "item", into: "results" };
    const long = mustParse(row(each("m", body, [], tolerant), wait("w", { seconds: 120 })));
    expect(workflowHash(long)).toBe(workflowHash(short));
    const other = mustParse(row(each("m", body, [], { tolerated_failures: 1 }), wait("w", { seconds: 120 })));
    expect(workflowHash(other)).not.toBe(workflowHash(short));
  });

  it.each([
    ["the order of nodes", { ...workflow, nodes: workflow.nodes.toReversed() }],
    ["the code of a node", mustParse(row(action("a", { name: "A", code: "a = 2" }), action("b")))],
    ["the timeout of a node", mustParse(row(action("a", { name: "A", timeout: 61 }), action("b")))],
    ["a module in `lib`", { ...workflow, lib: { "m.py": "x = 1" } }],
  ])("depends on %s", (_, other) => {
    expect(workflowHash(other)).not.toBe(workflowHash(workflow));
  });

  it("is computed with the model as a plain text if all roles have the same model", () => {
    const [now, roles] = ["gpt", { code_generator: "gpt" }].map((model) => mustParse({ ...row(action("a")), model }));
    if (!now || !roles) throw new TypeError("both definitions parse");
    const then = { ...now, model: "gpt" as unknown as ModelChoice };
    expect(workflowHash(now)).toBe(workflowHash(then));
    expect(workflowText(now)).toContain('"model":"gpt"');
    expect(workflowText(roles)).toContain('"model":{"code_generator":"gpt"}');
  });

  it("is computed without the settings for prompts if the workflow has no prompt nodes", () => {
    expect(workflowText(mustParse(row(action("a"))))).not.toMatch(/samples|allow|maxCostUsd|approval|scope|model/);
  });

  it.each([
    ["samples", { ai: { samples: false } }],
    ["hosts", { network: { allow: ["example.com"] } }],
    ["limits", { limits: { max_cost_usd: 1 } }],
    ["models", { model: "gpt" }],
  ])("depends on the setting of %s for a prompt node", (_, fields) => {
    expect(workflowHash(mustParse(row(prompt("a", fields))))).not.toBe(workflowHash(mustParse(row(prompt("a")))));
  });

  it("is the SHA-256 of the canonical text of the workflow", () => {
    const frozen = { format: 1, id: "a", name: "é", requirements: [], lib: {}, nodes: [], edges: [] } as const;
    const copy = { ...frozen, requirements: [], nodes: [], edges: [] };
    expect(workflowText(copy)).toBe(
      '{"edges":[],"format":1,"id":"a","lib":{},"name":"é","nodes":[],"requirements":[]}',
    );
    expect(workflowHash(copy)).toBe("4e04d42f98eb08469983583e60a968d81020c94116e9d8466c5d84e1bac96bd8");
  });
});
