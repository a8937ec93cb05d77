import { describe, expect, it } from "vitest";
import {
  diffWorkflows,
  type Finding,
  findNodeAt,
  groupFindings,
  parseDefinition,
} from "../../../../packages/console/src/pages/workflow/definition.ts";

const action = (id: string, code: string, more: object = {}) => ({
  id,
  type: "action",
  executor: { kind: "code", code },
  timeoutSeconds: 60,
  ...more,
});
const definition = (nodes: object[], edges: object[] = [], more: object = {}) =>
  parseDefinition(JSON.stringify({ format: 1, id: "w", ...more, nodes, edges }));
const changes = (found: ReadonlyMap<string, string | { change: string }>) =>
  Object.fromEntries(Array.from(found, ([key, value]) => [key, typeof value === "string" ? value : value.change]));

describe("two versions of a workflow in the console", () => {
  it("are compared node by node, with the code of both versions", () => {
    const before = definition([action("a", "x = 1"), action("b", "y = 1"), action("gone", "z = 1")]);
    const after = definition([action("a", "x = 1"), action("b", "y = 2"), action("come", "z = 1")]);
    const diff = diffWorkflows(before, after);
    expect(changes(diff.nodes)).toEqual({ a: "same", b: "changed", gone: "removed", come: "added" });
    expect(diff.nodes.get("b")).toMatchObject({ code: { before: "y = 1", after: "y = 2" }, settings: undefined });
    expect(diff.nodes.get("gone")?.code).toEqual({ before: "z = 1", after: "" });
    expect(diff.graph.nodes.map(({ id }) => id)).toEqual(["a", "b", "come", "gone"]);
  });

  it("are equal if only the order of their fields differs", () => {
    const before = definition([{ id: "a", type: "wait", for: { kind: "seconds", seconds: 60 } }]);
    const after = definition([{ for: { seconds: 60, kind: "seconds" }, type: "wait", id: "a" }]);
    expect(diffWorkflows(before, after)).toMatchObject({
      settings: undefined,
      nodes: new Map([["a", { change: "same" }]]),
    });
  });

  it("differ if the digits of a number differ", () => {
    const of = (limit: string) =>
      parseDefinition(`{"nodes":[{"id":"a","type":"approval","form":{"maximum":${limit}}}],"edges":[]}`);
    const { nodes } = diffWorkflows(of("12345678901234567890"), of("12345678901234567891"));
    expect(nodes.get("a")?.settings?.after).toContain("12345678901234567891");
  });

  it("differ if edges were added, removed or changed", () => {
    const nodes = [action("a", ""), action("b", ""), action("c", "", { onError: "b" })];
    const before = definition(nodes, [
      { from: "a", to: "b", condition: "again", max: 3 },
      { from: "b", to: "c" },
    ]);
    const after = definition(
      [...nodes.slice(0, 2), action("c", "")],
      [
        { from: "a", to: "b", condition: "again", max: 5 },
        { from: "a", to: "c" },
      ],
    );
    const diff = diffWorkflows(before, after);
    expect(changes(diff.edges)).toEqual({ "a>b": "changed", "a>c": "added", "b>c": "removed", "c>b!": "removed" });
    expect(diff.graph.edges).toHaveLength(4);
  });

  it("can differ inside a map, while the map itself counts as unchanged", () => {
    const map = (code: string, more: object[] = []) => ({
      id: "each",
      type: "map",
      items: "lines",
      body: { nodes: [action("price", code), ...more], edges: [] },
    });
    const diff = diffWorkflows(definition([map("x = 1")]), definition([map("x = 2", [action("new", "")])]));
    expect(changes(diff.nodes)).toEqual({ each: "same", price: "changed", new: "added" });
    expect(diff.graph.nodes[0]?.body?.nodes.map(({ id }) => id)).toEqual(["price", "new"]);
  });

  it("differ if the settings of the workflow differ", () => {
    const diff = diffWorkflows(definition([], [], { timeoutSeconds: 60 }), definition([], [], { timeoutSeconds: 90 }));
    expect(diff.settings?.before).toContain("timeoutSeconds: 60");
    expect(diff.settings?.after).toContain("timeoutSeconds: 90");
  });

  it("differ if a prompt became code", () => {
    const prompt = { id: "a", type: "action", executor: { kind: "prompt", prompt: "x = 1" } };
    const code = { id: "a", type: "action", executor: { kind: "code", code: "x = 1" } };
    expect(diffWorkflows(definition([prompt]), definition([code])).nodes.get("a")).toMatchObject({ change: "changed" });
  });
});

const mapped = JSON.stringify({
  nodes: [
    { id: "start", type: "start" },
    {
      id: "each",
      type: "map",
      body: { nodes: [{ id: "price" }, { id: "book" }], edges: [{ from: "price", to: "book" }] },
    },
  ],
  edges: [{ from: "start", to: "each" }],
});

describe("a finding of the compiler in the console", () => {
  it.each([
    ["$.nodes[0]", "start"],
    ["$.nodes[1].items", "each"],
    ["$.nodes[1].nodes[1].code", "book"],
    ["$.nodes[1].edges[0].condition", "price"],
    ["$.edges[0]", "start"],
    ["$.inputs", undefined],
    ["$.nodes[7]", undefined],
    ["$.nodes[1].nodes[9].code", "each"],
    ["$", undefined],
  ])("with the JSON path %s is shown at the node %s (undefined: at the workflow)", (path, node) => {
    expect(findNodeAt(mapped, path)).toBe(node);
  });

  it("without the id of a node is shown at the workflow", () => {
    const finding = (path: string) => ({ code: "NOVA1", severity: "error", path, message: "" }) as Finding;
    const found = groupFindings(mapped, [finding("$.name"), finding("$.nodes[0]"), finding("$.nodes[0].id")]);
    expect(Array.from(found, ([node, { length }]) => [node, length])).toEqual([
      ["", 1],
      ["start", 2],
    ]);
  });
});
