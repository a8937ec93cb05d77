import type { ChainEntry, Task } from "@nova/client";
import { describe, expect, it } from "vitest";
import { parseAnswer } from "../../../../packages/console/src/json/answer.ts";
import { Raw } from "../../../../packages/console/src/json/raw.ts";
import { contextAt, namesIn, outcomeIn } from "../../../../packages/console/src/pages/tasks/about.ts";

describe("what the message of a task names", () => {
  const ask = { id: "ask", message: "Pay {{ total }} of {{order.lines.0.sku}}, {{total}}?" };

  it("is read from the node's template, each path once, those of maps as well", () => {
    const names = ["total", "order.lines.0.sku"];
    expect(namesIn(new Raw(JSON.stringify({ nodes: [{ id: "x" }, ask] })), "ask")).toEqual(names);
    expect(namesIn(new Raw(JSON.stringify({ nodes: [{ id: "each", body: { nodes: [ask] } }] })), "ask")).toEqual(names);
    expect(namesIn(new Raw(JSON.stringify({ nodes: [] })), "ask")).toEqual([]);
  });

  it("is found in the context with its digits", () => {
    const context = new Raw('{"total": 850.0, "order": {"lines": [{"sku": "A-1", "n": 12345678901234567890}]}}');
    expect(contextAt(context, "total")).toBe("850.0");
    expect(contextAt(context, "order.lines.0.n")).toBe("12345678901234567890");
    for (const path of ["order.lines.7", "order.lines.x", "total.y", "absent", "__proto__"]) {
      expect(contextAt(context, path)).toBeUndefined();
    }
  });
});

describe("what became of a task", () => {
  const task = { node: "ask", answered_at: "2026-01-01T10:00:00.000Z" } as Task;
  const entry = (at: string, data: string, node = "ask") =>
    parseAnswer(
      `{"node_id": "${node}", "node_type": "approval", "seq": 3, "scope": "",
        "changes": {"set": {"note": 5, "ask": {"choice": "approved", "data": ${data}, "by": "Ada", "at": "${at}"}}}}`,
    ) as ChainEntry;

  it("is in the link that its answer made, whatever key that has", () => {
    const found = outcomeIn(entry("2026-01-01T10:00:00.000Z", '{"limit": 850.0}'), task);
    expect(found).toMatchObject({ choice: "approved", by: "Ada", data: '{"limit": 850.0}' });
    expect(outcomeIn(entry("2026-01-01T10:00:00.000Z", "null"), task)?.data).toBeUndefined();
  });

  it("is not what another visit, or another node, was answered", () => {
    expect(outcomeIn(entry("2026-01-01T11:00:00.000Z", "null"), task)).toBeUndefined();
    expect(outcomeIn(entry("2026-01-01T10:00:00.000Z", "null", "other"), task)).toBeUndefined();
  });

  it("is found in the branch in which it was asked", () => {
    const inside = entry("2026-01-01T10:00:00.000Z", "null");
    const fork = { node_id: "each", node_type: "map", branches: [{ branch: "0", entries: [inside] }] } as never;
    expect(outcomeIn(fork, task)?.entry).toBe(inside);
  });
});
