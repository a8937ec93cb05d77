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
  // Definitions stay unparsed (`Raw`), as in the answers that the console reads.
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

  it("joins parallel edges, and draws error edges", () => {
    const lines = buildDraftGraph({ nodes, edges }).edges.map(({ from, to, label }) => `${from} ${to} ${label}`);
    expect(lines).toEqual(["start a ", "a b true, default", "b end ", "a b error"]);
  });

  it("counts fresh and stale nodes, and marks skipped ones", () => {
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
  ])("is summarized in one line with all digits: %s", (output, line) => {
    expect(summarizeOutput(output)).toBe(line);
  });

  it("is edited as text if it is a single text", () => {
    expect(findOnlyText('{"brief": "a\\nb"}')).toEqual({ key: "brief", text: "a\nb" });
    expect(findOnlyText('{"n": 1}')).toBeUndefined();
    expect(findOnlyText('{"a": "1", "b": "2"}')).toBeUndefined();
  });
});

describe("the fields of a node", () => {
  const definition = '{"id":"a","type":"action","executor":"text","prompt":"Hi","timeout":60.0,"retry":{"n":1}}';
  const now = readNodeFields(definition);

  it("depend on the kind of the node, and other members are shown as JSON with all digits", () => {
    expect(listShownFields(definition)).toEqual(["name", "prompt", "system", "model", "rest"]);
    expect(listShownFields('{"id":"a","type":"decision","code":"pass"}')).toEqual(["name", "code", "rest"]);
    expect(listShownFields('{"id":"a","type":"wait","prompt":"odd"}')).toEqual(["name", "prompt", "rest"]);
    expect(now).toMatchObject({ prompt: "Hi", code: "" });
    expect(now.rest).toContain('"timeout": 60.0');
  });

  it("show `model` among the remaining members, not in its own field, if `model` is an object", () => {
    const fields = readNodeFields('{"id":"a","model":{"model":"gpt","temperature":0.20}}');
    expect([fields.model, fields.rest.includes("0.20")]).toEqual(["", true]);
  });

  it("are sent only if they changed, and an emptied field is sent as null", () => {
    expect(diffFields({ prompt: "Hi", system: "Be brief" }, now)).toEqual({ system: "Be brief" });
    expect(diffFields({ prompt: "" }, now)).toEqual({ prompt: null });
    const rest = '{"type":"action","executor":"text","timeout":90.50}';
    expect(renderJson(diffFields({ rest }, now))).toBe('{"retry":null,"timeout":90.50}');
    expect(diffFields({ rest: "{" }, now)).toBeUndefined();
  });

  it("no longer count as edited when they equal the definition again", () => {
    const typed = applyEdit(undefined, now, 3, { prompt: "Ho" });
    expect(typed).toEqual({ fields: { prompt: "Ho" }, base: now, version: 3 });
    expect(applyEdit(typed, now, 4, { name: "A" })?.version).toBe(3);
    expect(applyEdit(typed, now, 3, { prompt: "Hi" })).toBeUndefined();
  });

  it("report a concurrent change, and are sent with the version that the user has read", () => {
    const typed = { fields: { prompt: "Ho" }, base: now, version: 3 };
    const theirs = { ...now, prompt: "Hey", name: "B" };
    expect(findConflicts(typed, theirs)).toEqual(["prompt"]);
    expect(chooseBaseVersion(typed, theirs, 5)).toBe(3);
    // The definition is unchanged: only a run has raised the version.
    expect(chooseBaseVersion(typed, now, 5)).toBe(5);
  });
});

describe("the condition of an edge", () => {
  it.each([
    ["", undefined],
    [" true ", true],
    ["false", false],
    ["default", "default"],
  ])("is parsed from %j as %j", (text, condition) => {
    expect(parseCondition(text)).toBe(condition);
  });
});
