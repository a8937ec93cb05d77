import { openApprovals, parseWorkflow, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { approval, codesOf, end, graph, type Loose, mustParse, start } from "../definition.ts";

const two = (first: Loose, second: Loose) =>
  graph(
    [start, approval("hr", first), approval("pay", second), end],
    ["start > hr", 'hr > pay: "default"', 'pay > end: "default"'],
  );

const people = { approvers: { any: ["hr@acme.com"] } };

describe("an approval", () => {
  it("may exclude the people who answered another approval only if that approval proves who they are", () => {
    expect(codesOf(two(people, { approvers: { any: ["role:finance"], not: ["starter", "hr"] } }))).toEqual([]);
    const found = "NOVA431 $.nodes[2].approvers.not[0]";
    expect(codesOf(two({}, { approvers: { any: ["role:finance"], not: ["hr"] } }))).toEqual([found]);
  });

  it("is parsed with its approvers in lower case, each once, and with the count 1, and keeps them when it is written and parsed again", () => {
    const approvers = { any: ["CFO@Acme.com", "cfo@acme.com", "role:Finance"] };
    const workflow = mustParse(two(people, { approvers }));
    expect(workflow.nodes[2]).toMatchObject({
      approvers: { any: ["cfo@acme.com", "role:Finance"], count: 1, not: [] },
    });
    expect(parseWorkflow(writeWorkflow(workflow)).workflow).toEqual(workflow);
  });

  it("without approvers causes a warning for its author, also in the body of a map", () => {
    const workflow = mustParse(two(people, {}));
    expect(openApprovals(workflow)).toEqual([
      {
        code: "NOVA433",
        severity: "warning",
        path: "$.nodes[2]",
        message: expect.stringContaining('node "pay": any runner key may answer this approval - '),
      },
    ]);
    const body = { nodes: workflow.nodes, edges: [] };
    const map = { id: "each", type: "map", body } as never;
    expect(openApprovals({ nodes: [map] }).map(({ path }) => path)).toEqual(["$.nodes[0].nodes[2]"]);
  });
});
