import { describe, expect, it } from "vitest";
import { type Finding, findNodeAt, groupFindings } from "../../../../packages/console/src/pages/workflow/findings.ts";

const definition = JSON.stringify({
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

describe("a finding", () => {
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
  ])("at %s belongs to %s", (path, node) => {
    expect(findNodeAt(definition, path)).toBe(node);
  });

  it("without a node belongs to the workflow", () => {
    const finding = (path: string) => ({ code: "NOVA1", severity: "error", path, message: "" }) as Finding;
    const found = groupFindings(definition, [finding("$.name"), finding("$.nodes[0]"), finding("$.nodes[0].id")]);
    expect(Array.from(found, ([node, { length }]) => [node, length])).toEqual([
      ["", 1],
      ["start", 2],
    ]);
  });
});
