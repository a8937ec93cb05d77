import { type ModelChoice, workflowHash, workflowText } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, each, end, type Loose, mustParse, prompt, row, start, wait } from "./definition.ts";

const workflow = mustParse(row(action("a", { name: "A" }), action("b")));

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inside]) => [name, reversed(inside)]),
  );
}

describe("a version", () => {
  it("does not depend on the order of fields, at any depth", () => {
    const other = reversed(workflow) as typeof workflow;
    expect(JSON.stringify(other)).not.toBe(JSON.stringify(workflow));
    expect(workflowText(other)).toBe(workflowText(workflow));
  });

  it("does not depend on aliases, defaults that are written out, or the layout", () => {
    const { nodes: _, ...rest } = row(action("a", { name: "A" }), action("b"));
    const explicit: Loose[] = [
      { ...start, type: "StartNode" },
      action("a", { name: "A", executor: "e2b", timeout: 60 }),
      action("b", { type: "ActionNode", executor: "code" }),
      { ...end, type: "EndNode" },
    ];
    expect(workflowHash(mustParse({ graph_definition: { ...rest, nodes: explicit } }))).toBe(workflowHash(workflow));
  });

  it("does not depend on how a duration, or that no failure is tolerated, is written", () => {
    const body = [action("one")];
    const short = mustParse(row(each("m", body), wait("w", { seconds: "2m" })));
    const tolerant = { tolerated_failures: "0%", max_concurrency: 5, as: "item", into: "results" };
    const long = mustParse(row(each("m", body, [], tolerant), wait("w", { seconds: 120 })));
    expect(workflowHash(long)).toBe(workflowHash(short));
    const other = mustParse(row(each("m", body, [], { tolerated_failures: 1 }), wait("w", { seconds: 120 })));
    expect(workflowHash(other)).not.toBe(workflowHash(short));
  });

  it.each([
    ["the order of nodes", { ...workflow, nodes: workflow.nodes.toReversed() }],
    ["code", mustParse(row(action("a", { name: "A", code: "a = 2" }), action("b")))],
    ["a timeout", mustParse(row(action("a", { name: "A", timeout: 61 }), action("b")))],
    ["a module of lib", { ...workflow, lib: { "m.py": "x = 1" } }],
  ])("depends on %s", (_, other) => {
    expect(workflowHash(other)).not.toBe(workflowHash(workflow));
  });

  it("writes one model for every role as a plain text", () => {
    const [now, roles] = ["gpt", { code_generator: "gpt" }].map((model) => mustParse({ ...row(action("a")), model }));
    if (!now || !roles) throw new TypeError("both definitions parse");
    const then = { ...now, model: "gpt" as unknown as ModelChoice };
    expect(workflowHash(now)).toBe(workflowHash(then));
    expect(workflowText(now)).toContain('"model":"gpt"');
    expect(workflowText(roles)).toContain('"model":{"code_generator":"gpt"}');
  });

  it("contains nothing about prompts without prompt nodes", () => {
    expect(workflowText(mustParse(row(action("a"))))).not.toMatch(/samples|allow|maxCostUsd|approval|scope|model/);
  });

  it.each([
    ["samples", { ai: { samples: false } }],
    ["hosts", { network: { allow: ["example.com"] } }],
    ["limits", { limits: { max_cost_usd: 1 } }],
    ["models", { model: "gpt" }],
  ])("depends on the %s of a prompt node", (_, fields) => {
    expect(workflowHash(mustParse(row(prompt("a", fields))))).not.toBe(workflowHash(mustParse(row(prompt("a")))));
  });

  it("is the SHA-256 of the text", () => {
    const frozen = { format: 1, id: "a", name: "é", requirements: [], lib: {}, nodes: [], edges: [] } as const;
    const copy = { ...frozen, requirements: [], nodes: [], edges: [] };
    expect(workflowText(copy)).toBe(
      '{"edges":[],"format":1,"id":"a","lib":{},"name":"é","nodes":[],"requirements":[]}',
    );
    expect(workflowHash(copy)).toBe("4e04d42f98eb08469983583e60a968d81020c94116e9d8466c5d84e1bac96bd8");
  });
});
