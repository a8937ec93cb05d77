import { Context } from "@nova/engine";
import { parseWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import type { Draft, DraftEdge, DraftNode } from "../../../packages/service/src/ports/sessions.ts";
import { buildDraftGraph } from "../../../packages/service/src/sessions/draft-graph.ts";
import { sourceOfWhole } from "../../../packages/service/src/sessions/part.ts";
import {
  findEarlierNodes,
  nothingOutside,
  planOneNode,
  type SessionSnapshot,
} from "../../../packages/service/src/sessions/prepare-run.ts";

const decisions = ["check", "d", "again"];

function draftOf(...written: string[]): Draft {
  const edges = written.map((one): DraftEdge => {
    const [from = "", to = "", condition, max] = one.split(" ");
    return { from, to, ...(condition && { condition }), ...(max && { max: Number(max) }) };
  });
  const ids = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const nodes = ids.map(
    (id): DraftNode => ({ id, type: decisions.includes(id) ? "decision" : "action", code: "pass" }),
  );
  return { settings: {}, files: {}, nodes, edges };
}

function errorsIn(draft: Draft): string[] {
  const { findings } = parseWorkflow(sourceOfWhole(draft, buildDraftGraph(draft), { id: "x", name: "x" }));
  return findings.filter(({ severity }) => severity === "error").map(({ code, message }) => `${code} ${message}`);
}

function keysBefore(draft: Draft, id: string, decided: Record<string, string>): string[] {
  const values = new Map(
    draft.nodes.map((node) => [
      node.id,
      { set: [{ key: node.id, json: "1" }], delete: [], decision: decided[node.id] ?? null },
    ]),
  );
  const draftGraph = buildDraftGraph(draft);
  const begin = new Context().apply({ set: [{ key: "begin", json: "1" }], delete: [] }, 0);
  const snapshot: SessionSnapshot = { draft, draftGraph, values, begin, outside: nothingOutside, freshness: new Map() };
  const { context } = planOneNode(snapshot, id);
  return context.slots().map(({ key }) => key);
}

const namesBefore = (draft: Draft, id: string) => findEarlierNodes(draft, id).map((node) => node.id);

describe("a loop of a draft", () => {
  it.each([
    ["leads back to the first step", draftOf("a d", "d a again 3", "d z default")],
    ["leads back to the first step from a decision that has no other edge", draftOf("a d", "d a again 3")],
    [
      "leads from a decision back through a separate node",
      draftOf("s check", "check fix bad 3", "fix check", "check z default"),
    ],
    [
      "leads back through a separate node and is the last part of the draft",
      draftOf("s check", "check fix bad 3", "fix check"),
    ],
  ])("can be published if it %s", (_, draft) => {
    expect(errorsIn(draft)).toEqual([]);
    expect(buildDraftGraph(draft).graph).toBeDefined();
  });

  const fixing = draftOf("s check", "check fix bad 3", "fix check", "check z default");

  it("gives a node that only the loop reaches the outputs of the nodes before this node", () => {
    expect(buildDraftGraph(fixing).order).toEqual(["s", "check", "fix", "z"]);
    expect(namesBefore(fixing, "fix")).toEqual(["s", "check"]);
    expect(namesBefore(fixing, "check")).toEqual(["s"]);
    for (const check of ["bad", "default"])
      expect(keysBefore(fixing, "fix", { check })).toEqual(["begin", "s", "check"]);
  });

  it("gives the node after the loop the outputs of a single round", () => {
    expect(keysBefore(fixing, "z", { check: "bad" })).toEqual(["begin", "s", "check", "fix"]);
    expect(keysBefore(fixing, "z", { check: "default" })).toEqual(["begin", "s", "check"]);
  });

  it("gives its nodes no outputs of other branches if it is inside a branch", () => {
    const inBranch = draftOf("f check", "f y", "check fix bad 3", "fix check", "check join default", "y join");
    expect(errorsIn(inBranch)).toEqual([]);
    expect(keysBefore(inBranch, "fix", { check: "bad" })).toEqual(["begin", "f", "check"]);
    expect(keysBefore(inBranch, "join", { check: "bad" }).sort()).toEqual(["begin", "check", "f", "fix", "y"]);
  });

  it("gives the node after both loops the outputs of both if it is inside another loop", () => {
    const nested = draftOf("s a", "a d", "d a inner 2", "d again default", "again s outer 2", "again z default");
    expect(errorsIn(nested)).toEqual([]);
    expect(keysBefore(nested, "z", { d: "inner", again: "outer" })).toEqual(["begin", "s", "a", "d", "again"]);
  });

  it("needs an edge with a `max`, because the draft has no graph without this edge", () => {
    const endless = draftOf("s a", "a z", "b a");
    const nodes = endless.nodes.map((node) => (node.id === "a" ? { ...node, onError: "b" } : node));
    const { graph, findings } = buildDraftGraph({ ...endless, nodes });
    expect([graph, findings.map(({ code }) => code)]).toEqual([undefined, ["NOVA211"]]);
  });
});
