import { layout as dagre, graphlib } from "@dagrejs/dagre";
import type { LayoutNode, LayoutRequest, Placed } from "./layout-types.ts";

/** Room for the title of a node that has others in it, and around them. */
const head = 54;
const padding = 18;

interface Size {
  width: number;
  height: number;
}

/** Places every node, from above to below; what is inside of a node first, as its size follows from that. */
export function layout(request: LayoutRequest): Placed[] {
  return placedIn(request, undefined).placed;
}

function placedIn({ nodes, edges }: LayoutRequest, parent: string | undefined): { placed: Placed[]; size: Size } {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 34, ranksep: 44, edgesep: 18, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const deeper: Placed[] = [];
  for (const node of nodes) {
    const { size, placed } = sizeOf(node);
    deeper.push(...placed);
    graph.setNode(node.id, { ...size });
  }
  for (const [index, { from, to, label }] of edges.entries()) {
    if (!graph.hasNode(from) || !graph.hasNode(to)) continue;
    graph.setEdge(from, to, { width: label.length * 7, height: label === "" ? 0 : 16, labelpos: "c" }, String(index));
  }
  dagre(graph);
  const offset = parent === undefined ? { x: 0, y: 0 } : { x: padding, y: head };
  const own = nodes.map(({ id }): Placed => {
    const { x, y, width, height } = graph.node(id) as Size & { x: number; y: number };
    return { id, parent, width, height, x: x - width / 2 + offset.x, y: y - height / 2 + offset.y };
  });
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>;
  return { placed: [...own, ...deeper], size: { width, height } };
}

function sizeOf({ id, width, height, inside }: LayoutNode): { size: Size; placed: Placed[] } {
  if (!inside || inside.nodes.length === 0) return { size: { width, height }, placed: [] };
  const { placed, size } = placedIn(inside, id);
  return {
    placed,
    size: { width: Math.max(width, size.width + 2 * padding), height: Math.max(height, size.height + head + padding) },
  };
}
