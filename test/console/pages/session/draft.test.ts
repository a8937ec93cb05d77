import type { Session } from "@nova/client";
import { renderJson } from "@nova/workflow/json-text";
import { describe, expect, it } from "vitest";
import { Raw } from "../../../../packages/console/src/json/raw.ts";
import {
  applyEdit,
  buildDraftGraph,
  chooseBaseVersion,
  classifyNode,
  countStates,
  diffFields,
  findConflicts,
  findOnlyText,
  listShownFields,
  parseCondition,
  readNodeFields,
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
  // As the console parses an answer.
  definition: new Raw(JSON.stringify({ id: node_id, ...definition })) as never,
  ...more,
});

describe("the graph of a draft", () => {
  const edges: Session["edges"] = [
    { from: "start", to: "a" },
    { from: "a", to: "b", condition: true },
    { from: "a", to: "b", condition: "default" },
    { from: "b", to: "end" },
  ];
  const nodes = [node("a", { type: "decision", onError: "b" }), node("b", { executor: "text", name: "Write" })];

  it("has a start and an end that edges alone name", () => {
    const graph = buildDraftGraph({ nodes, edges });
    expect(graph.nodes.map(({ id, type, name }) => [id, type, name])).toEqual([
      ["a", "decision", "a"],
      ["b", "action", "Write"],
      ["start", "start", "start"],
      ["end", "end", "end"],
    ]);
    expect(graph.nodes.map(({ isPrompt }) => isPrompt)).toEqual([false, true, false, false]);
  });

  it("draws edges of one way as one, and where a node goes that has failed", () => {
    const lines = buildDraftGraph({ nodes, edges }).edges.map(({ from, to, label }) => `${from} ${to} ${label}`);
    expect(lines).toEqual(["start a ", "a b true, default", "b end ", "a b error"]);
  });

  it("counts how nodes stand; what no way leads to is skipped", () => {
    expect(countStates([...nodes, node("c", {}, { state: "fresh" })])).toEqual({ stale: 2, fresh: 1 });
    expect(classifyNode(node("c", {}, { state: "fresh", skipped: true }))).toBe("skipped");
  });
});

describe("an output", () => {
  it.each([
    ['{"text": "\\n First line\\nSecond"}', "First line"],
    ['{"n": 850.0}', "850.0"],
    ['{"n": 12345678901234567890, "m": 1}', '{"n": 12345678901234567890, "m": 1}'],
    ["{}", "{}"],
  ])("is told in a line, digit for digit: %s", (output, line) => {
    expect(summarizeOutput(output)).toBe(line);
  });

  it("is written as a text where it is one", () => {
    expect(findOnlyText('{"brief": "a\\nb"}')).toEqual({ key: "brief", text: "a\nb" });
    expect(findOnlyText('{"n": 1}')).toBeUndefined();
    expect(findOnlyText('{"a": "1", "b": "2"}')).toBeUndefined();
  });
});

describe("the fields of a node", () => {
  const definition = '{"id":"a","type":"action","executor":"text","prompt":"Hi","timeout":60.0,"retry":{"n":1}}';
  const now = readNodeFields(definition);

  it("are those of its kind, and the rest as JSON whose digits stay", () => {
    expect(listShownFields(definition)).toEqual(["name", "prompt", "system", "model", "rest"]);
    expect(listShownFields('{"id":"a","type":"decision","code":"pass"}')).toEqual(["name", "code", "rest"]);
    expect(listShownFields('{"id":"a","type":"wait","prompt":"odd"}')).toEqual(["name", "prompt", "rest"]);
    expect(now).toMatchObject({ prompt: "Hi", code: "" });
    expect(now.rest).toContain('"timeout": 60.0');
  });

  it("keep a model that is an object with the rest", () => {
    const fields = readNodeFields('{"id":"a","model":{"model":"gpt","temperature":0.20}}');
    expect([fields.model, fields.rest.includes("0.20")]).toEqual(["", true]);
  });

  it("are sent where they are others, with null for what was emptied or taken away", () => {
    expect(diffFields({ prompt: "Hi", system: "Be brief" }, now)).toEqual({ system: "Be brief" });
    expect(diffFields({ prompt: "" }, now)).toEqual({ prompt: null });
    const rest = '{"type":"action","executor":"text","timeout":90.50}';
    expect(renderJson(diffFields({ rest }, now))).toBe('{"retry":null,"timeout":90.50}');
    expect(diffFields({ rest: "{" }, now)).toBeUndefined();
  });

  it("that are typed are forgotten once they are as before", () => {
    const typed = applyEdit(undefined, now, 3, { prompt: "Ho" });
    expect(typed).toEqual({ fields: { prompt: "Ho" }, base: now, version: 3 });
    expect(applyEdit(typed, now, 4, { name: "A" })?.version).toBe(3);
    expect(applyEdit(typed, now, 3, { prompt: "Hi" })).toBeUndefined();
  });

  it("name what somebody else has changed, and the version that was read then", () => {
    const typed = { fields: { prompt: "Ho" }, base: now, version: 3 };
    const theirs = { ...now, prompt: "Hey", name: "B" };
    expect(findConflicts(typed, theirs)).toEqual(["prompt"]);
    expect(chooseBaseVersion(typed, theirs, 5)).toBe(3);
    // A run alone has raised it.
    expect(chooseBaseVersion(typed, now, 5)).toBe(5);
  });
});

describe("the condition of an edge", () => {
  it.each([
    ["", undefined],
    [" true ", true],
    ["false", false],
    ["default", "default"],
  ])("is read from %j as %j", (text, condition) => {
    expect(parseCondition(text)).toBe(condition);
  });
});
