import { budgetsWithoutPrice } from "@nova/agents";
import { parseWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";

const limits = { max_cost_usd: 0.5 };
const text = { id: "a", type: "action", executor: "text", prompt: "Say" };
const prompt = { id: "a", type: "action", executor: "prompt", prompt: "Add up." };

function found(node: object, more: object = {}, fallback?: string): string[] {
  const definition = {
    id: "w",
    nodes: [{ id: "start", type: "start" }, node, { id: "end", type: "end" }],
    edges: [
      { from: "start", to: "a" },
      { from: "a", to: "end" },
    ],
    ...more,
  };
  const { workflow, findings } = parseWorkflow({ text: JSON.stringify(definition), fileName: "w.json", files: {} });
  if (!workflow) throw new TypeError(JSON.stringify(findings));
  return budgetsWithoutPrice(workflow, fallback).map(({ code, severity, path }) => `${code} ${severity} ${path}`);
}

describe("a budget", () => {
  const own = "NOVA443 warning $.nodes[1].limits.max_cost_usd";

  it.each<[string, object, object, string | undefined, string[]]>([
    ["the model of its text node", { ...text, limits, model: "qwen3:8b" }, {}, undefined, [own]],
    [
      "one model of its prompt node",
      { ...prompt, limits, model: { code_generator: "qwen3:8b" } },
      {},
      undefined,
      [own],
    ],
    ["the workflow's model", { ...text, limits }, { model: "qwen3:8b" }, undefined, [own]],
    ["DEFAULT_MODEL", { ...prompt, limits }, {}, "m", [own]],
    ["a model under the workflow's limit", text, { limits }, "m", ["NOVA443 warning $.limits.max_cost_usd"]],
  ])("causes a warning if %s has no price", (_what, node, more, fallback, expected) => {
    expect(found(node, more, fallback)).toEqual(expected);
  });

  it.each<[string, object, object, string | undefined]>([
    ["its model has a price", { ...text, limits, model: "gpt-6-luna" }, {}, "m"],
    ["the default models have prices", { ...prompt, limits }, {}, undefined],
    ["a snapshot of a model has the price of that", { ...text, limits, model: "gpt-5-2025-08-07" }, {}, undefined],
    ["there is none", { ...text, model: "qwen3:8b" }, {}, undefined],
    ["no model is asked", { id: "a", type: "action", code: "context['a'] = 1" }, { limits }, "m"],
  ])("causes no warning if %s", (_what, node, more, fallback) => {
    expect(found(node, more, fallback)).toEqual([]);
  });
});
