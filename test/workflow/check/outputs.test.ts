import { findNearKey, readCodeKeys } from "@nova/python";
import { parseWorkflow } from "@nova/workflow";
import { expect, it } from "vitest";

const text = (id: string) => ({ id, type: "action", executor: "text", prompt: "Say" });
const code = (id: string, source: string) => ({ id, type: "action", code: source });

function found(...nodes: { id: string }[]) {
  const path = ["start", ...nodes.map(({ id }) => id), "end"];
  const definition = {
    id: "outputs",
    nodes: [{ id: "start", type: "start" }, ...nodes, { id: "end", type: "end" }],
    edges: path.slice(1).map((to, index) => ({ from: path[index], to })),
  };
  const parsed = parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", files: {} });
  return [...parsed.findings, ...parsed.keyFindings({ readCodeKeys, findNearKey })];
}

const flattens = code("all", 'import math\ncontext["all"] = outputs.get_flattened()');

it.each([
  [
    [text("a"), text("b"), flattens],
    /line 2: .*"output" is set by "a", "b", and 2 more keys are - use outputs\.get_all/,
  ],
  [
    [code("a", 'context["n"] = 1'), code("b", 'context["n"] = context["n"] + 1'), flattens],
    /"n" is set by "a", "b" - /,
  ],
])("code that would lose results with get_flattened() has a warning: %j", (nodes, message) => {
  expect(found(...nodes)).toMatchObject([
    { code: "NOVA514", severity: "warning", path: "$.nodes[3].code", message: expect.stringMatching(message), line: 2 },
  ]);
});

it.each([
  [[text("a"), flattens]],
  [[text("a"), text("b"), code("all", 'context["all"] = outputs.get_all_data()')]],
  [[text("a"), flattens, text("b")]],
  [[text("a"), text("b"), code("all", 'outputs = {}\ncontext["all"] = outputs.get_flattened()')]],
])("other code has no warning about get_flattened(): %j", (nodes) => {
  expect(found(...nodes).filter(({ code }) => code === "NOVA514")).toEqual([]);
});
