import { at, didYouMean, type Finding, finding, formatValue } from "../findings/finding.ts";
import { conditionLabel, defaultLabel, findCycles, groupsOf, reachableFrom, timeoutLabel } from "../graph/graph.ts";
import { edgeName, type ReadEdge } from "../parse/read.ts";
import type { ApprovalNode } from "../workflow.ts";
import { entriesOf } from "./forks.ts";
import { countingEdge } from "./loops.ts";
import { listIds, type NamedNode, type Outline, pathOf } from "./outline.ts";

/** Checks that an edge leads from a node to a node of the same body. */
export function* checkNames({ edges, byId, homeOf, title }: Outline): Iterable<Finding> {
  const ids = [...byId.keys()];
  for (const edge of edges) {
    for (const end of ["from", "to"] as const) {
      const id = edge[end];
      if (id === undefined || byId.has(id)) continue;
      const home = homeOf.get(id);
      const elsewhere = `${edgeName(edge)} is in ${title}, but "${id}" is in ${home} - ${stayInside}`;
      if (home === undefined) yield unknownNode(edgeName(edge), id, ids, at(edge.path, end));
      else yield finding("NOVA233", at(edge.path, end), elsewhere);
    }
  }
}

function unknownNode(subject: string, id: string, ids: readonly string[], path: string): Finding {
  const wayOut = didYouMean(id, ids) || " - add the node, or correct the id";
  return finding("NOVA206", path, `${subject} names the unknown node "${id}"${wayOut}`);
}

const stayInside = "an item begins and ends inside of its map, and the edges of the map continue the run";

/**
 * Checks the edges out of nodes that do not choose: they must have no condition. Several of them are parallel branches.
 */
export function* checkPlainEdges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one") continue;
    const targets = new Set<string>();
    for (const { from, to, condition, repeats, path } of edgesOf.get(node.id) ?? []) {
      const edge = edgeName({ from, to });
      if (condition !== undefined) {
        const message = `${edge} has a condition, but "${from}" is no decision and no approval - remove the condition, or make it a decision`;
        yield finding("NOVA303", at(path, "condition"), message);
      } else if (!repeats && to !== undefined) {
        if (targets.has(to)) yield finding("NOVA207", path, `${edge} is written twice - remove one of the two`);
        targets.add(to);
      }
    }
  }
}

export function* checkOnError({ nodes, byId, homeOf, title }: Outline): Iterable<Finding> {
  const ids = [...byId.values()].filter((node) => node.kind?.edgesIn !== "none").map((node) => node.id);
  for (const { id, onError, path } of nodes) {
    if (onError === undefined) continue;
    const place = at(path, "onError");
    const target = byId.get(onError);
    const home = homeOf.get(onError);
    if (!target && home !== undefined) {
      const message = `onError of "${id}", which is in ${title}, names "${onError}" in ${home} - ${stayInside}`;
      yield finding("NOVA233", place, message);
    } else if (!target) {
      yield unknownNode(`onError of "${id}"`, onError, ids, place);
    } else if (onError === id) {
      yield finding("NOVA408", place, `onError of "${id}" is the node itself - name another one, or use retry`);
    } else if (target.kind?.edgesIn === "none") {
      yield finding("NOVA408", place, `onError of "${id}" is the start - name an action, a decision or an end`);
    }
  }
}

/** Checks that no two ids of the whole definition are equal or differ only in case, `-` or `_`. */
export function* checkIds(outlines: readonly Outline[]): Iterable<Finding> {
  const byShape = new Map<string, string>();
  const seen = new Set<string>();
  for (const { id, path } of outlines.flatMap(({ nodes }) => nodes)) {
    const shape = id.toLowerCase().replaceAll("_", "-");
    const other = byShape.get(shape);
    if (seen.has(id)) {
      yield finding("NOVA111", at(path, "id"), `two nodes have the id "${id}" - rename one of them`);
    } else if (other !== undefined) {
      const message = `the ids "${other}" and "${id}" differ only in case, - or _ - rename one of them`;
      yield finding("NOVA112", at(path, "id"), message);
    } else byShape.set(shape, id);
    seen.add(id);
  }
}

/** Checks that every value of a decision, and every answer of an approval, has exactly one edge. */
export function* checkDecisions({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    const { edgesOut, type } = node.kind ?? {};
    if (edgesOut !== "conditions" && edgesOut !== "choices") continue;
    const edges = edgesOf.get(node.id) ?? [];
    const open = edges.filter((edge) => edge.condition === undefined && edge.edge !== undefined);
    const values = edgesOut === "choices" ? "choice" : "value of branch_decision";
    if (edges.length === 0) {
      yield finding("NOVA301", node.path, `the ${type} "${node.id}" has no edges - add one for each ${values}`);
    }
    for (const edge of open) {
      const message = `${edgeName(edge)} leaves the ${type} without a condition - add "condition": a ${values}, or "default" for all others`;
      yield finding("NOVA301", edge.path, message);
    }
    yield* checkClashes(edges);
    if (edgesOut === "choices") yield* checkChoices(node, edges);
    else if (open.length === 0 && !isChosenByModel(node)) yield* checkGap(node, edges);
  }
}

/**
 * Returns true for a decision that is a text node. Its model always names one of the edges, so it needs no default
 * edge.
 */
function isChosenByModel({ node }: NamedNode): boolean {
  return node?.type === "decision" && node.executor.kind === "text";
}

function* checkClashes(edges: readonly ReadEdge[]): Iterable<Finding> {
  const firstOf = new Map<string, ReadEdge>();
  for (const edge of edges) {
    if (edge.condition === undefined) continue;
    const label = conditionLabel(edge.condition);
    const first = firstOf.get(label);
    if (first === undefined) firstOf.set(label, edge);
    else if (first.to === edge.to) {
      const message = `${edgeName(edge)} is written twice for ${formatValue(edge.condition)} - remove one of the two`;
      yield finding("NOVA207", edge.path, message);
    } else {
      const message = `"${edge.from}" leads for ${formatValue(edge.condition)} both to "${first.to}" and to "${edge.to}" - keep one, or change a condition`;
      yield finding("NOVA304", at(edge.path, "condition"), message);
    }
  }
}

function* checkGap(node: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  const labelled = edges.filter(({ condition }) => condition !== undefined);
  const labels = new Set(labelled.map(({ condition }) => conditionLabel(condition)));
  const isTruth = labels.has("true") && labels.has("false") && labels.size === 2;
  if (labels.size === 0 || labels.has(defaultLabel) || isTruth) return;
  const only = labels.size === 1 ? [...labels][0] : undefined;
  const missing = only === "true" ? "false" : only === "false" ? "true" : '"default"';
  const message = `the decision "${node.id}" has no edge for other values than ${[...labels].join(", ")}: a run would fail there - add one with "condition": ${missing}`;
  yield finding("NOVA302", node.path, message);
}

/** Checks that every choice of an approval has an edge, and that no edge has an unknown choice as its condition. */
export function* checkChoices({ id, node, path }: NamedNode, edges: readonly ReadEdge[]): Iterable<Finding> {
  if (node?.type !== "approval") return;
  yield* checkForms(node, path);
  const labelled = edges.filter((edge) => edge.condition !== undefined);
  const labels = new Set(labelled.map(({ condition }) => conditionLabel(condition)));
  for (const edge of labelled) {
    const label = conditionLabel(edge.condition);
    if ([...node.choices, timeoutLabel, defaultLabel].includes(label)) continue;
    const wayOut = didYouMean(label, node.choices) || ` - the choices are ${listIds(node.choices)}`;
    const message = `${edgeName(edge)} waits for "${label}", which is no choice of "${id}"${wayOut}`;
    yield finding("NOVA412", at(edge.path, "condition"), message);
  }
  const missing = node.choices.filter((choice) => !labels.has(choice));
  if (missing.length === 0 || labels.has(defaultLabel)) return;
  const message = `the approval "${id}" has no edge for ${listIds(missing)} - add one for each, or one with "condition": "default"`;
  yield finding("NOVA411", path, message);
}

function* checkForms({ id, form, forms, choices }: ApprovalNode, path: string): Iterable<Finding> {
  const named = Object.keys(forms ?? {});
  for (const choice of named.filter((one) => !choices.includes(one))) {
    const wayOut = didYouMean(choice, choices) || ` - the choices are ${listIds(choices)}`;
    yield finding("NOVA430", at(path, "forms", choice), `"${choice}" has a form and is no choice of "${id}"${wayOut}`);
  }
  if (!form || choices.some((choice) => !named.includes(choice))) return;
  const message = `the form of "${id}" is used by no choice, because each has its own in forms - remove it`;
  yield finding("NOVA430", at(path, "form"), message);
}

export function* checkPresence({ path, nodes, byId, map }: Outline): Iterable<Finding> {
  if (map !== undefined) return;
  const kinds = nodes.map(({ id }) => byId.get(id)?.kind);
  const [first, ...others] = nodes.filter((_, index) => kinds[index]?.edgesIn === "none");
  if (!first)
    yield finding("NOVA201", path, 'the workflow has no start - add a node { "id": "start", "type": "start" }');
  for (const other of others) {
    if (other.id === first?.id) continue;
    const message = `"${other.id}" is a second start beside "${first?.id}" - keep one, and let a decision after it choose`;
    yield finding("NOVA202", at(other.path, "type"), message);
  }
  if (kinds.some((kind) => kind?.edgesOut === "none")) return;
  const message = 'the workflow has no end - add a node { "id": "end", "type": "end" } and an edge to it';
  yield finding("NOVA203", path, message);
}

export function* checkDirections({ edges, byId, map }: Outline): Iterable<Finding> {
  for (const edge of edges) {
    if (map === undefined && byId.get(edge.to ?? "")?.kind?.edgesIn === "none") {
      const message = `${edgeName(edge)} leads into a start - lead it elsewhere, or remove it`;
      yield finding("NOVA204", at(edge.path, "to"), message);
    }
    if (byId.get(edge.from ?? "")?.kind?.edgesOut === "none") {
      const message = `${edgeName(edge)} leaves an end - put the node before the end, or remove the edge`;
      yield finding("NOVA205", at(edge.path, "from"), message);
    }
  }
}

/**
 * Checks that the body of a map has no start, exactly one node without an incoming edge, and at least one node that
 * does something.
 */
export function* checkBodies(outline: Outline): Iterable<Finding> {
  const { map, title, nodes } = outline;
  if (map === undefined || map.node?.type === "agent") return;
  for (const { id, kind, path } of nodes) {
    if (kind?.edgesIn !== "none") continue;
    const message = `${title} has the start "${id}", but an item starts at the node without an incoming edge - remove the start and its edge`;
    yield finding("NOVA232", at(path, "type"), message);
  }
  if (nodes.every(({ kind }) => kind?.edgesOut === "none")) {
    yield finding("NOVA230", map.path, `${title} has no node that does something - add one to its nodes`);
    return;
  }
  const [, second, ...others] = entriesOf(outline).filter(({ kind }) => kind?.edgesIn !== "none");
  if (!second) return;
  const ids = listIds([second, ...others].map(({ id }) => id));
  const message = `${title} has more than one node without an incoming edge, but an item starts at only one - add an edge to ${ids}`;
  yield finding("NOVA231", second.path, message);
}

/** Checks that every node is on a path from the start to an end, and that there is no cycle. */
export function* checkWays(outline: Outline): Iterable<Finding> {
  if (outline.map === undefined) {
    yield* checkReach(outline);
    yield* checkDeadEnds(outline);
  }
  for (const cycle of findCycles(outline.forward)) {
    const ring = [...cycle, cycle[0]].map((id) => `"${id}"`).join(" -> ");
    const on = new Set(cycle);
    const counting = countingEdge(outline, on, on);
    const wayOut = counting
      ? `limit the rounds: add "max": 5, or another number, to the edge from "${counting.from}" to "${counting.to}"`
      : 'remove one of them, or let a decision or an approval in the cycle choose, with "max" on its edge';
    const message = `the edges form a cycle: ${ring} - ${wayOut}`;
    yield finding("NOVA211", pathOf(outline, cycle[0]), message);
  }
}

function* checkReach(outline: Outline): Iterable<Finding> {
  const starts = outline.nodes.filter((node) => node.kind?.edgesIn === "none").map((node) => node.id);
  if (starts.length === 0) return;
  const reached = reachableFrom(outline.graph, starts);
  const lost = new Set(outline.graph.ids.filter((id) => !reached.has(id)));
  for (const { head, others } of groupsOf(outline.graph, lost)) {
    const more = others.length === 0 ? "" : `, and so none to ${listIds(others)} after it`;
    const message = `no path from the start leads to "${head}"${more} - add an edge to it, or remove it`;
    yield finding("NOVA209", pathOf(outline, head), message);
  }
}

/**
 * Reports nodes without an outgoing edge that are no ends. In a graph without cycles, only such nodes keep a run from
 * reaching an end.
 */
function* checkDeadEnds({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const node of byId.values()) {
    if (node.kind?.edgesOut !== "one" || (edgesOf.get(node.id) ?? []).length > 0) continue;
    const message = `"${node.id}" leads nowhere, so a run could not reach an end - add an edge from it to the next node or to an end`;
    yield finding("NOVA210", node.path, message);
  }
}

/**
 * Reports NOVA454: a workflow that is a tool of its own agent. Longer cycles are found when the workflow is published,
 * or else when it runs.
 */
export function* checkToolCycles(outlines: readonly Outline[], id: string): Iterable<Finding> {
  for (const { map, nodes } of outlines) {
    if (map?.node?.type !== "agent") continue;
    for (const { node, path } of nodes) {
      if (node?.type !== "workflow" || node.workflow !== id) continue;
      const message = `the agent "${map.node.id}" has its own workflow "${id}" as a tool, so its calls would never end - name another workflow`;
      yield finding("NOVA454", at(path, "workflow"), message);
    }
  }
}

/**
 * Reports NOVA455: several edges that leave an agent. A run visits an agent again after its calls, so parallel branches
 * must start at a node after the agent.
 */
export function* checkAgentEdges({ byId, edgesOf }: Outline): Iterable<Finding> {
  for (const { id, node } of byId.values()) {
    const [, second] = node?.type === "agent" ? (edgesOf.get(id) ?? []) : [];
    if (!second) continue;
    const message = `several edges leave the agent "${id}" - lead one edge to a node after it, and let the branches start there`;
    yield finding("NOVA455", second.path, message);
  }
}
