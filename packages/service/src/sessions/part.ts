import type { Edge, Node, PartOfDraft, WorkflowSource } from "@nova/workflow";
import type { Draft, DraftEdge, DraftNode } from "../ports/sessions.ts";
import type { Front } from "./compose.ts";
import { isInput, nextOf, stepsOf } from "./draft.ts";
import type { Shape } from "./shape.ts";

/** What of a draft is to run, and what of it is checked for that. */
export interface Part extends Omit<PartOfDraft, "recordedMaps"> {
  nodes: DraftNode[];
  /** Of all these nodes. */
  allEdges: DraftEdge[];
}

/** Everything behind a front: what lies before it is in the context that the part begins with. */
export function partFrom(draft: Draft, shape: Shape, { entries, merge, passed }: Omit<Front, "context">): Part {
  const next = nextOf({ nodes: draft.nodes, edges: shape.edges });
  const reached = new Set(entries);
  for (const id of reached) for (const to of next.get(id) ?? []) reached.add(to);
  const { nodes, edges: allEdges } = wholeOf(draft, shape);
  const start = { id: shape.start.id, ...(merge !== undefined && { merge: merge as NonNullable<Node["merge"]> }) };
  const edges = [
    ...entries.map((to): Edge => ({ from: start.id, to })),
    ...(shape.edges.filter(({ from }) => reached.has(from)) as Edge[]),
  ];
  return { start, steps: shape.order.filter((id) => reached.has(id)), edges, passed, nodes, allEdges };
}

/** One node, with those before it that have come to something. */
export function partAlone(draft: Draft, shape: Shape, node: DraftNode, passed: readonly string[] = []): Part {
  const kept = new Set([...passed, node.id]);
  const isKept = ({ id }: DraftNode) => kept.has(id);
  const free = (id: string): string => (kept.has(id) ? free(`${id}_`) : id);
  const [start, end] = [free("start"), free("end")];
  const inside = shape.edges
    .filter(({ from }) => kept.has(from))
    .map((edge): DraftEdge => ({ ...edge, to: kept.has(edge.to) ? edge.to : end }));
  const edges = [...new Map(inside.map((edge) => [JSON.stringify(edge), edge])).values()];
  const entered = new Set(edges.map(({ to }) => to));
  const begin = [...kept].filter((id) => !entered.has(id)).map((to): DraftEdge => ({ from: start, to }));
  const nodes = stepsOf(draft)
    .filter(isKept)
    .map((one) => within(one.id === node.id ? node : one, kept, edges));
  return {
    start: { id: start },
    steps: [node.id],
    passed: [...passed],
    edges: [{ from: start, to: node.id }, ...(edges.filter(({ from }) => from === node.id) as Edge[])],
    nodes: [{ id: start, type: "start" }, ...nodes, { id: end, type: "end" }],
    allEdges: [...begin, ...edges],
  };
}

/** Without what it says of nodes that are not there. */
function within(
  { onError, merge, ...node }: DraftNode,
  kept: ReadonlySet<string>,
  edges: readonly DraftEdge[],
): DraftNode {
  const isFork = edges.filter(({ from }) => from === node.id).length > 1;
  return {
    ...(node as DraftNode),
    ...(typeof onError === "string" && kept.has(onError) && { onError }),
    ...(merge !== undefined && isFork && { merge }),
  };
}

function wholeOf(draft: Draft, { start, ends, edges }: Shape): { nodes: DraftNode[]; edges: DraftEdge[] } {
  return { nodes: [start, ...stepsOf(draft), ...ends], edges };
}

/** What belongs to a published workflow and not to a draft that is run. */
const publishedOnly = new Set(["triggers", "on_failure", "warm", "timeout", "inputs"]);

/**
 * As people write it. What a run of a part begins with was checked when the session was made, and nodes have set other
 * values since: of `inputs` only what is secret counts.
 */
export function sourceOfPart(
  draft: Draft,
  { nodes, allEdges, ...part }: Part,
  { id, isRecorded, keys = [] }: { id: string; isRecorded(node: string): boolean; keys?: readonly string[] },
): WorkflowSource {
  const kept = Object.entries(draft.settings).filter(([name]) => !publishedOnly.has(name));
  const inputs = knownInputs(draft.settings.inputs, keys);
  const fields = {
    id,
    name: "A draft",
    ...Object.fromEntries(kept),
    ...(inputs && { inputs }),
    // A workflow file has no inputs, and no input is ever asked.
    nodes: nodes.map((node) => (isInput(node) ? { ...node, prompt: "An input." } : node)),
    edges: allEdges,
  };
  const maps = nodes.filter((node) => /^map/i.test(node.type) && part.steps.includes(node.id) && isRecorded(node.id));
  return {
    text: JSON.stringify(fields),
    fileName: "workflow.json",
    files: draft.files,
    isSent: true,
    part: { ...part, recordedMaps: maps.map((node) => node.id) },
  };
}

/** Keys that the run begins with, so that prompts may name them. */
function knownInputs(inputs: unknown, keys: readonly string[]): object | undefined {
  const properties = (inputs as { properties?: Record<string, { secret?: unknown }> } | undefined)?.properties ?? {};
  const known = keys.map((key) => [key, {}] as const);
  const secret = Object.entries(properties).flatMap(([name, schema]) =>
    schema?.secret === true ? [[name, { secret: true }] as const] : [],
  );
  const all = Object.fromEntries([...known, ...secret]);
  return Object.keys(all).length === 0 ? undefined : { properties: all };
}

/** The draft as a workflow that can be published. */
export function sourceOfWhole(draft: Draft, shape: Shape, named: { id?: string; name: string }): WorkflowSource {
  const fields = { ...named, ...draft.settings, ...wholeOf(draft, shape) };
  return { text: JSON.stringify(fields), fileName: "workflow.json", files: draft.files, isSent: true };
}
