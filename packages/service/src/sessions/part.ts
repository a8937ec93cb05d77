import { type Edge, type Node, type PartOfDraft, parseWorkflow, type WorkflowSource } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Draft, DraftEdge, DraftNode } from "../ports/sessions.ts";
import type { Front } from "./compose.ts";
import { isInput, isStep, listNodesBeside, nextOf, stepsOf, withEdge } from "./draft.ts";
import { buildDraftGraph, type DraftGraph, edgeAfter } from "./draft-graph.ts";
import { bodyOf } from "./scope.ts";

/**
 * The part of a draft that runs. `nodes` and `allEdges` are checked before the run, and may contain more than this
 * part.
 */
export interface Part extends Omit<PartOfDraft, "recordedMaps"> {
  nodes: DraftNode[];
  allEdges: DraftEdge[];
}

/**
 * Builds the part that starts with the nodes in `entries`. The outcomes of the nodes before them are in the initial
 * context of the part.
 */
export function partFrom(draft: Draft, draftGraph: DraftGraph, { entries, merge, passed }: Omit<Front, "context">) {
  const next = nextOf({ nodes: draft.nodes, edges: draftGraph.edges.map(({ max: _, ...edge }) => edge) });
  const reached = new Set(entries);
  for (const id of reached) for (const to of next.get(id) ?? []) reached.add(to);
  const { nodes, edges: allEdges } = wholeOf(draft, draftGraph);
  const start = { id: draftGraph.start.id, ...(merge !== undefined && { merge: merge as NonNullable<Node["merge"]> }) };
  const edges = [
    ...entries.map((to): Edge => ({ from: start.id, to })),
    ...(draftGraph.edges.filter(({ from }) => reached.has(from)) as Edge[]),
  ];
  return { start, steps: draftGraph.order.filter((id) => reached.has(id)), edges, passed, nodes, allEdges };
}

/**
 * Nodes outside the maps that contain a node. `nodes` run before these maps, and `beside` are the tools and fallbacks
 * of `nodes`.
 */
export interface NodesOutside {
  nodes: readonly DraftNode[];
  beside: readonly DraftNode[];
}

/** Builds the part of one node. If the node is in the body of a map, the nodes in `outside` come before all others. */
export function partAlone(
  draft: Draft,
  draftGraph: DraftGraph,
  node: DraftNode,
  passed: readonly string[] = [],
  { nodes: outside, beside: besideOutside }: NodesOutside = { nodes: [], beside: [] },
): Part {
  const kept = new Set([...outside.map(({ id }) => id), ...passed, node.id]);
  const isKept = ({ id }: DraftNode) => kept.has(id);
  const free = (id: string): string => (kept.has(id) ? free(`${id}_`) : id);
  const [start, end] = [free("start"), free("end")];
  const inside = draftGraph.onward
    .filter(({ from }) => kept.has(from))
    .map((edge): DraftEdge => ({ ...edge, to: kept.has(edge.to) ? edge.to : end }));
  // Adds an edge to the end if no edge leaves the node, for example for a tool.
  if (!inside.some(({ from }) => from === node.id)) inside.push({ from: node.id, to: end });
  const targets = new Set(inside.map(({ to }) => to));
  const first = [...passed, node.id].find((id) => !targets.has(id)) ?? node.id;
  const line = outside.map((one, at) => edgeAfter(one, outside[at + 1]?.id ?? first));
  const edges = [...new Map([...line, ...inside].map((edge) => [JSON.stringify(edge), edge])).values()];
  const entered = new Set(edges.map(({ to }) => to));
  const begin = [...kept].filter((id) => !entered.has(id)).map((to): DraftEdge => ({ from: start, to }));
  const nodes = [...outside, ...draft.nodes]
    .filter((one) => isStep(one) && isKept(one))
    .map((one) => within(one.id === node.id ? node : one, kept, edges));
  const beside = listNodesBeside({ nodes: [...besideOutside, ...draft.nodes] }, nodes).filter((one) => !isKept(one));
  return {
    start: { id: start },
    steps: [node.id],
    passed: [...outside.map(({ id }) => id), ...passed],
    edges: [{ from: start, to: node.id }, ...(edges.filter(({ from }) => from === node.id) as Edge[])],
    nodes: [{ id: start, type: "start" }, ...nodes, { id: end, type: "end" }, ...beside],
    allEdges: [...begin, ...edges],
  };
}

/** Removes references to nodes outside the part. */
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

function wholeOf(draft: Draft, { start, ends, edges }: DraftGraph): { nodes: DraftNode[]; edges: DraftEdge[] } {
  const steps = stepsOf(draft);
  return { nodes: [start, ...steps, ...ends, ...listNodesBeside(draft, steps)], edges };
}

/** Settings that only apply to a published workflow. */
const publishedOnly = new Set(["triggers", "on_failure", "warm", "timeout", "inputs"]);

/**
 * Returns the part as a workflow file. It keeps only the secret `inputs`: the session has already checked its initial
 * context, and nodes have changed values since.
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
    // A workflow file cannot contain an input node. Input nodes never run, so their prompt does not matter.
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

/**
 * Returns the `inputs` of a part: the secret inputs, and the keys of the initial context, so that prompts may name
 * these keys. Returns undefined if there is none.
 */
function knownInputs(inputs: unknown, keys: readonly string[]): object | undefined {
  const properties = (inputs as { properties?: Record<string, { secret?: unknown }> } | undefined)?.properties ?? {};
  const known = keys.map((key) => [key, {}] as const);
  const secret = Object.entries(properties).flatMap(([name, schema]) =>
    schema?.secret === true ? [[name, { secret: true }] as const] : [],
  );
  const all = Object.fromEntries([...known, ...secret]);
  return Object.keys(all).length === 0 ? undefined : { properties: all };
}

/** Returns the draft as a workflow file that can be published. */
export function sourceOfWhole(
  draft: Draft,
  draftGraph: DraftGraph,
  named: { id?: string; name: string },
): WorkflowSource {
  const fields = { ...named, ...draft.settings, ...wholeOf(draft, draftGraph) };
  return { text: JSON.stringify(fields), fileName: "workflow.json", files: draft.files, isSent: true };
}

/**
 * Codes of findings that a draft may have while it is edited, such as a missing file, tool or edge. When the draft
 * runs, these findings are errors.
 */
const mayBeMissing = new Set(["NOVA230", "NOVA302", "NOVA401", "NOVA411", "NOVA450", "NOVA456", "NOVA512", "NOVA515"]);

/**
 * Throws `Refused` for a node that can never run, because of an unknown kind, a key that its kind does not have, or an
 * invalid value. Checks the nodes of a map one by one, so that a user can draw their edges later. Skips nodes for which
 * `isKnown` is true, because they were checked before.
 */
export async function demandNode(
  draft: Draft,
  written: DraftNode,
  isKnown: (node: DraftNode) => boolean = () => false,
): Promise<void> {
  const body = bodyOf(written);
  for (const one of body?.nodes ?? []) if (!isKnown(one)) await demandNode({ ...draft, ...body }, one, isKnown);
  body?.edges.reduce(withEdge, { ...draft, nodes: body.nodes, edges: [] });
  const only = { id: written.id === "item" ? "item_" : "item", type: "action", code: "pass" };
  const node = body ? { ...written, nodes: [only], edges: [] } : written;
  const others = draft.nodes.filter(({ id }) => id !== node.id);
  const alone = { ...draft, nodes: [...others, node] };
  const part = partAlone(alone, buildDraftGraph(alone), node);
  const found = part.nodes.findIndex(({ id }) => id === node.id);
  const place = Math.max(1, found);
  const nodes = isStep(node) ? part.nodes : part.nodes.with(place, node);
  const { findings } = parseWorkflow(sourceOfPart(draft, { ...part, nodes }, { id: "draft", isRecorded: () => false }));
  const path = `$.nodes[${place}]`;
  // The part has its own start and end. So for a start or an end of the draft, findings about the graph do not count.
  const isOfGraph = (code: string) => !isStep(node) && code.startsWith("NOVA2");
  const own = findings.filter(
    ({ severity, code, ...found }) =>
      severity === "error" &&
      !mayBeMissing.has(code) &&
      !isOfGraph(code) &&
      (found.path === path || found.path.startsWith(`${path}.`)),
  );
  const [first] = own;
  if (first) throw new Refused(first.message, own);
}
