import { placeCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";

const code = { id: "resolve_code", fallback: "resolve", codeFile: "resolve_code.py" };

describe("placeCode", () => {
  it("adds a node with code below an agent, moves the edges and the onError of the agent to it, and changes nothing else", () => {
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

  it("adds the node to the body of the map that contains the agent", () => {
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

  it("returns undefined if the definition has no such agent", () => {
    expect(placeCode('{"nodes":[]}', code)).toBeUndefined();
  });
});
