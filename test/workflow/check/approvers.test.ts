import { openApprovals, parseWorkflow, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, approval, codesOf, each, end, graph, type Loose, mustParse, row, start } from "../definition.ts";

const two = (first: Loose, second: Loose) =>
  graph(
    [start, approval("hr", first), approval("pay", second), end],
    ["start > hr", 'hr > pay: "default"', 'pay > end: "default"'],
  );

const openIn = (definition: object) => {
  const source = { text: JSON.stringify(definition), fileName: "workflow.json", files: {} };
  return openApprovals(mustParse(definition), source);
};

const people = { approvers: { any: ["hr@acme.com"] } };

describe("an approval", () => {
  it("may exclude the people who answered another approval only if the other approval has `approvers`", () => {
    expect(codesOf(two(people, { approvers: { any: ["role:finance"], not: ["starter", "hr"] } }))).toEqual([]);
    const found = "NOVA431 $.nodes[2].approvers.not[0]";
    expect(codesOf(two({}, { approvers: { any: ["role:finance"], not: ["hr"] } }))).toEqual([found]);
  });

  it("is parsed with each approver once, addresses in lower case and the count 1, also after a second parse", () => {
    const approvers = { any: ["CFO@Acme.com", "cfo@acme.com", "role:Finance"] };
    const workflow = mustParse(two(people, { approvers }));
    expect(workflow.nodes[2]).toMatchObject({
      approvers: { any: ["cfo@acme.com", "role:Finance"], count: 1, not: [] },
    });
    expect(parseWorkflow(writeWorkflow(workflow)).workflow).toEqual(workflow);
  });

  it("without approvers causes a warning for its author, also in the body of a map", () => {
    expect(openIn(two(people, {}))).toEqual([
      {
        code: "NOVA433",
        severity: "warning",
        path: "$.nodes[2]",
        file: "workflow.json",
        line: 1,
        column: expect.any(Number),
        message: expect.stringContaining('node "pay": any runner key may answer this approval - '),
      },
    ]);
    const inMap = each("each", [approval("ask"), action("after")], ['ask > after: "default"']);
    expect(openIn(row(inMap)).map(({ path }) => path)).toEqual(["$.nodes[1].nodes[0]"]);
    const agent = { id: "resolve", type: "action", executor: "agent", prompt: "Go.", tools: ["pay"] };
    const pay = action("pay", { description: "Pays.", input_schema: { type: "object" }, approve: { message: "Pay?" } });
    const around = graph(
      [start, agent, pay, approval("ask"), end],
      ["start > resolve", "resolve > ask", 'ask > end: "default"'],
    );
    expect(openIn(around).map(({ path }) => path)).toEqual(["$.nodes[2].approve", "$.nodes[3]"]);
  });
});
