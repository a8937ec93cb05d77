import { freshProblem, promptNodes } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, flow, lines, prompted } from "../../../support/engine/flows.ts";

const written = flow(
  "written",
  [prompted(action("a")), action("b"), prompted(action("c"))],
  lines("start > a > b > c > end"),
);
const byHand: Pick<Workflow, "nodes"> = { nodes: written.nodes.filter(({ id }) => id === "b") };

describe("nodes that are written anew", () => {
  it("are those with a prompt", () => {
    expect(promptNodes(written)).toEqual(["a", "c"]);
    expect(freshProblem(written, { fresh: ["c", "a"] })).toBeNull();
  });

  it("may be none, in a frozen run too", () => {
    expect(freshProblem(written, { frozen: true })).toBeNull();
    expect(freshProblem(written, { fresh: [], frozen: true })).toBeNull();
  });

  it.each([
    ["a run that asks no model", written, { fresh: ["a"], frozen: true }, /frozen run asks no model.*leave out/],
    ["code that somebody wrote", written, { fresh: ["a", "b"] }, /no prompt node "b".*its prompt nodes are a, c/],
    ["a node that is not there", written, { fresh: ["bills"] }, /no prompt node "bills"/],
    ["a workflow without prompts", byHand, { fresh: ["b"] }, /this workflow has none/],
  ])("are not those of %s", (_what, workflow, request, sentence) => {
    expect(freshProblem(workflow, request)).toMatch(sentence);
  });
});
