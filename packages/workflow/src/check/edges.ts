import { type Finding, finding } from "../findings/finding.ts";
import { at, didYouMean } from "../findings/text.ts";
import { edgeName } from "../parse/body.ts";
import type { Outline } from "./outline.ts";

/** Checks that both ends of an edge are nodes in the same body as the edge. */
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

/** Checks edges out of nodes that do not choose: they have no condition, and several of them are branches. */
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

/** Checks that `onError` names a node that can continue after a failure. */
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

/**
 * Checks that ids are unique, also for readers and file systems that ignore case. The bodies of maps share the ids of
 * the workflow.
 */
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
