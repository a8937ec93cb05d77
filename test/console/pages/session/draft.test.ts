import type { Session } from "@nova/client";
import { describe, expect, it } from "vitest";
import { Raw } from "../../../../packages/console/src/json/raw.ts";
import {
  buildDraftGraph,
  classifyNode,
  countStates,
  findOnlyText,
  isToolOfAgent,
  parseCondition,
  replaceText,
  type SessionNode,
  summarizeOutput,
} from "../../../../packages/console/src/pages/session/draft.ts";

const node = (node_id: string, definition: object, more: Partial<SessionNode> = {}): SessionNode => ({
  node_id,
  version: 1,
  state: "stale",
  skipped: false,
  source: null,
  decision: null,
  // Definitions stay unparsed (`Raw`), as in the answers that the console reads.
  definition: new Raw(JSON.stringify({ id: node_id, ...definition })) as never,
  ...more,
});

describe("the graph of a workflow's draft", () => {
  const edges: Session["edges"] = [
    { from: "start", to: "a" },
    { from: "a", to: "b", condition: true },
    { from: "a", to: "b", condition: "default" },
    { from: "b", to: "end" },
  ];
  const nodes = [node("a", { type: "decision", onError: "b" }), node("b", { executor: "text", name: "Write" })];

  it("contains start and end nodes that only edges mention", () => {
    const graph = buildDraftGraph({ nodes, edges });
    expect(graph.nodes.map(({ id, type, name }) => [id, type, name])).toEqual([
      ["a", "decision", "a"],
      ["b", "action", "Write"],
      ["start", "start", "start"],
      ["end", "end", "end"],
    ]);
    expect(graph.nodes.map(({ isPrompt }) => isPrompt)).toEqual([false, true, false, false]);
  });

  it("draws several edges between two nodes as one edge, and draws error edges", () => {
    const lines = buildDraftGraph({ nodes, edges }).edges.map(({ from, to, label }) => `${from} ${to} ${label}`);
    expect(lines).toEqual(["start a ", "a b true, default", "b end ", "a b error"]);
  });

  it("counts fresh and stale nodes, and marks skipped nodes", () => {
    expect(countStates([...nodes, node("c", {}, { state: "fresh" })])).toEqual({ stale: 2, fresh: 1 });
    expect(classifyNode(node("c", {}, { state: "fresh", skipped: true }))).toBe("skipped");
  });
});

describe("a change of a node's executor", () => {
  it.each([
    [
      { code: "pass" },
      "text",
      [
        ["code", null],
        ["prompt", '""'],
      ],
    ],
    [{ executor: "text", prompt: "Write" }, "agent", []],
    [
      { executor: "text", promptFile: "a.md" },
      "code",
      [
        ["promptFile", null],
        ["code", '"\\n"'],
      ],
    ],
    [{ code: "pass" }, "e2b", []],
  ])("replaces a text that the new executor cannot use: %j %s", (definition, executor, changes) => {
    expect(replaceText(JSON.stringify(definition), executor)).toEqual(changes);
  });
});

describe("a node of a draft", () => {
  const nodes = [node("a", { executor: "agent", tools: ["find", { workflow: "b" }] })];
  const beside = [node("find", {})];

  it.each([
    ["find", true],
    ["b", false],
    ["a", false],
  ])("is a tool if an agent lists its id: %s %s", (id, isTool) => {
    expect(isToolOfAgent({ nodes, beside }, id)).toBe(isTool);
  });
});

describe("the output of a node in a session", () => {
  it.each([
    ['{"text": "\\n First line\\nSecond"}', "First line"],
    ['{"n": 850.0}', "850.0"],
    ['{"n": 12345678901234567890, "m": 1}', '{"n": 12345678901234567890, "m": 1}'],
    ["{}", "{}"],
  ])("is summarized in one line with all digits: %s", (output, line) => {
    expect(summarizeOutput(output)).toBe(line);
  });

  it("is edited as plain text instead of JSON if its only member is a text", () => {
    expect(findOnlyText('{"brief": "a\\nb"}')).toEqual({ key: "brief", text: "a\nb" });
    expect(findOnlyText('{"n": 1}')).toBeUndefined();
    expect(findOnlyText('{"a": "1", "b": "2"}')).toBeUndefined();
  });
});

describe("the condition of an edge in the console's form", () => {
  it.each([
    ["", undefined],
    [" true ", true],
    ["false", false],
    ["default", "default"],
  ])("is parsed from %j as %j", (text, condition) => {
    expect(parseCondition(text)).toBe(condition);
  });
});
