import { defined } from "../defined.ts";
import type { Edge, Node, Workflow } from "../workflow.ts";

/** Some nodes of a draft, which are to run; what lies before them has run. */
export interface PartOfDraft {
  start: { id: string; merge?: Node["merge"] };
  /** Ids of the nodes that are in it, besides its start and ends. */
  steps: string[];
  /** All that leave the start and the steps. */
  edges: Edge[];
  /** Ids of the nodes in front of it. */
  passed: string[];
  /** Ids of maps among the steps whose outcomes are on record. */
  recordedMaps: string[];
}

/** A workflow of the part alone, made of the whole one, which was checked: names in it may mean nodes in front. */
export function partOf(whole: Workflow, { start, steps, edges, passed, recordedMaps }: PartOfDraft): Workflow {
  const { timeoutSeconds: _, triggers: __, onFailure: ___, warm: ____, ...shared } = whole;
  const own = new Set(steps);
  const [before, recorded] = [new Set(passed), new Set(recordedMaps)];
  const targets = new Set(edges.map(({ to }) => to));
  const isEnd = ({ id, type }: Node) => type === "end" && targets.has(id);
  const given = whole.nodes.filter(({ id }) => before.has(id) || recorded.has(id));
  return {
    ...shared,
    nodes: [
      defined({ id: start.id, type: "start" as const, merge: start.merge }),
      ...whole.nodes
        .filter((node) => own.has(node.id) || isEnd(node))
        .map((node) => (recorded.has(node.id) ? standIn(node) : node)),
    ],
    edges,
    ...(given.length > 0 && {
      given: { passed, nodes: given.map(withoutWork), edges: whole.edges.filter(({ from }) => before.has(from)) },
    }),
  };
}

/** A map would read its list again, and go through it. */
function standIn({ id, merge }: Node): Node {
  const executor = { kind: "code" as const, code: "pass" };
  return defined({ id, type: "action" as const, merge, executor, timeoutSeconds: 60, effects: false });
}

/** Names and keys are what others may ask for. */
function withoutWork(node: Node): Node {
  if (node.type === "map") return { ...node, body: { nodes: [], edges: [] } };
  if (!("executor" in node)) return node;
  const { executor } = node;
  if (executor.kind === "text") return { ...node, executor: { kind: "text", prompt: "", into: executor.into } };
  return { ...node, executor: { kind: "code", code: "" } };
}
