import { NotFound, Refused } from "../errors.ts";
import type { Draft, DraftNode } from "../ports/sessions.ts";

type Body = Pick<Draft, "nodes" | "edges">;

/**
 * Returns the nodes and edges that a map runs for each item. Returns undefined for a map that calls a workflow, and for
 * a node that is no map.
 */
export function bodyOf({ nodes, edges = [] }: DraftNode): Body | undefined {
  const isNode = (one: unknown) => typeof (one as DraftNode | null)?.id === "string";
  const isEdge = (one: unknown) => typeof one === "object" && one !== null;
  if (!Array.isArray(nodes) || !nodes.every(isNode)) return undefined;
  return Array.isArray(edges) && edges.every(isEdge) ? ({ nodes, edges } as Body) : undefined;
}

/** Lists nodes, and the nodes in the bodies of maps among them. */
export function listNodes(nodes: readonly DraftNode[]): DraftNode[] {
  return nodes.flatMap((node) => [node, ...listNodes(bodyOf(node)?.nodes ?? [])]);
}

export function nameOf({ id, name }: DraftNode): string {
  return typeof name === "string" ? name : id;
}

/** Finds a node of a draft, inside or outside maps. Throws `NotFound`. */
export function nodeOf({ nodes }: Pick<Draft, "nodes">, id: string): DraftNode {
  const all = listNodes(nodes);
  const node = all.find((one) => one.id === id);
  if (node) return node;
  const known = all.length === 0 ? "it has none yet" : `it has ${shortList(all.map((one) => one.id))}`;
  throw new NotFound(`the session has no node "${id.slice(0, 64)}" - ${known}`);
}

export function shortList(names: readonly string[], most = 20): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}

/** Lists the maps whose bodies contain a node, outermost first. */
export function listMapsAround(nodes: readonly DraftNode[], id: string): DraftNode[] {
  const outer = nodes.find((node) => listNodes(bodyOf(node)?.nodes ?? []).some((one) => one.id === id));
  return outer ? [outer, ...listMapsAround(bodyOf(outer)?.nodes ?? [], id)] : [];
}

/**
 * Returns the draft with the nodes and edges of the map body that contains the node; the draft itself if no map
 * contains it.
 */
export function draftAround(draft: Draft, id: string): Draft {
  const map = listMapsAround(draft.nodes, id).at(-1);
  return { ...draft, ...(map && bodyOf(map)) };
}

/**
 * Applies `change` to the body of a map; if `map` is undefined, to the draft itself. Throws `NotFound`, and `Refused`
 * if the node `map` has no body.
 */
export function changeInside(draft: Draft, map: string | undefined, change: (draft: Draft) => Draft): Draft {
  if (map === undefined) return change(draft);
  const outer = listMapsAround(draft.nodes, map)[0] ?? nodeOf(draft, map);
  const body = bodyOf(outer);
  if (!body) throw new Refused(`node "${map}" has no nodes of its own - name a map that has "nodes" and "edges"`);
  const inner = { ...draft, ...body };
  const { nodes, edges } = outer.id === map ? change(inner) : changeInside(inner, map, change);
  return { ...draft, nodes: draft.nodes.map((one) => (one === outer ? { ...one, nodes, edges } : one)) };
}

/** Applies `change` to the body of the map that contains the node; if no map contains it, to the draft itself. */
export function changeAround(draft: Draft, id: string, change: (draft: Draft) => Draft): Draft {
  return changeInside(draft, listMapsAround(draft.nodes, id).at(-1)?.id, change);
}
