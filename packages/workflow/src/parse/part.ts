import { defined } from "../defined.ts";
import type { Edge, Node, Workflow } from "../workflow.ts";

/** The nodes of a draft that will run. The nodes before them have run already. */
export interface PartOfDraft {
  start: { id: string; merge?: Node["merge"] };
  /** Ids of its nodes, without its start and ends. */
  steps: string[];
  edges: Edge[];
  passed: string[];
  /** Ids of maps among the steps with recorded outcomes. */
  recordedMaps: string[];
}

/** Builds a workflow of the part alone from the whole checked workflow. Names in it may mean nodes before the part. */
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
        .map((node) => (recorded.has(node.id) ? replaceMap(node) : node)),
    ],
    edges,
    ...(given.length > 0 && {
      draftPrefix: { passed, nodes: given.map(withoutWork), edges: whole.edges.filter(({ from }) => before.has(from)) },
    }),
  };
}

/** Replaces a map with a recorded outcome: the map itself would read its list again and run its items. */
function replaceMap({ id, merge }: Node): Node {
  const executor = { kind: "code" as const, code: "pass" };
  return defined({ id, type: "action" as const, merge, executor, timeoutSeconds: 60, effects: false });
}

/** Removes code and prompts. Names and keys stay, because other nodes may refer to them. */
function withoutWork(node: Node): Node {
  if (node.type === "map") return { ...node, body: { nodes: [], edges: [] } };
  if (!("executor" in node)) return node;
  const { executor } = node;
  if (executor.kind === "text") return { ...node, executor: { kind: "text", prompt: "", into: executor.into } };
  return { ...node, executor: { kind: "code", code: "" } };
}
