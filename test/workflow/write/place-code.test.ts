import { placeCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";

const code = { id: "resolve_code", fallback: "resolve", codeFile: "resolve_code.py" };

describe("placeCode", () => {
  it("adds a node with code below an agent, gives it the agent's edges and onError, and changes nothing else", () => {
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

  it("renames the agent in the input_keys of all nodes, even inside maps", () => {
    const reading = { all: "resolve", one: "resolve:a.b", other: "resolver:resolve" };
    const nodes = [
      { id: "resolve" },
      { id: "book", input_keys: reading },
      {
        id: "each",
        type: "map",
        nodes: [
          { id: "send", input_keys: reading },
          { id: "log", input_keys: ["resolve"] },
        ],
      },
    ];
    const placed = JSON.parse(placeCode(JSON.stringify({ nodes, edges: [] }), code) ?? "");
    const [, , book, { nodes: inner }] = placed.nodes;
    const renamed = { all: "resolve_code", one: "resolve_code:a.b", other: "resolver:resolve" };
    expect([book, ...inner].map((node) => node.input_keys)).toEqual([renamed, renamed, ["resolve"]]);
  });

  it("returns undefined if the definition has no such agent", () => {
    expect(placeCode('{"nodes":[]}', code)).toBeUndefined();
  });
});
