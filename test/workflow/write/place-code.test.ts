import { placeCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";

const code = { id: "resolve_code", fallback: "resolve", codeFile: "resolve_code.py" };

describe("a definition with code in place of an agent", () => {
  it("has the node after the agent, with its edges and its onError, and is otherwise unchanged", () => {
    const text = `{
  "limits": { "max_cost_usd": 1.10 },
  "nodes": [
    { "id": "start", "type": "start" },
    {
      "id": "resolve",
      "onError": "ask", "tools": []
    },
    { "id": "book", "onError": "resolve" }
  ],
  "edges": [{ "from": "start", "to": "resolve" }, { "from": "resolve", "to": "book" }]
}
`;
    expect(placeCode(text, code)).toBe(`{
  "limits": { "max_cost_usd": 1.10 },
  "nodes": [
    { "id": "start", "type": "start" },
    {
      "id": "resolve", "tools": []
    },
    {
      "id": "resolve_code",
      "type": "action",
      "codeFile": "resolve_code.py",
      "fallback": "resolve",
      "onError": "ask"
    },
    { "id": "book", "onError": "resolve_code" }
  ],
  "edges": [{ "from": "start", "to": "resolve_code" }, { "from": "resolve_code", "to": "book" }]
}
`);
  });

  it("has it in the body of a map whose agent it replaces", () => {
    const body = { nodes: [{ onError: "x", id: "resolve" }], edges: [{ from: "resolve", to: "x" }] };
    const text = JSON.stringify({
      nodes: [{ id: "each", type: "map", ...body }],
      edges: [{ from: "resolve", to: "y" }],
    });
    const node = { id: "resolve_code", type: "action", codeFile: "resolve_code.py", fallback: "resolve", onError: "x" };
    expect(JSON.parse(placeCode(text, code) ?? "")).toEqual({
      nodes: [
        { id: "each", type: "map", nodes: [{ id: "resolve" }, node], edges: [{ from: "resolve_code", to: "x" }] },
      ],
      edges: [{ from: "resolve", to: "y" }],
    });
  });

  it("does not exist if the definition has no such agent", () => {
    expect(placeCode('{"nodes":[]}', code)).toBeUndefined();
  });
});
