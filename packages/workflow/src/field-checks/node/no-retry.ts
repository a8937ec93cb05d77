import type { NodeType } from "../../workflow.ts";

const runsNothing = "it runs nothing that could fail";

/** Why a kind of node has no `retry`, and what does its work there. */
export const noRetry: Readonly<Record<Exclude<NodeType, "action" | "decision">, string>> = {
  start: runsNothing,
  end: runsNothing,
  approval: "people answer it, and an answer is final; its timeout and onError say what happens without one",
  wait: "nothing runs while it waits; its timeout and onError say what happens when nothing comes",
  map: "give it to the nodes of its body, or tolerate failed items with tolerated_failures",
  workflow: "give it to the nodes of the workflow that it runs",
};
