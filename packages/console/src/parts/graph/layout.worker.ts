import { layout as dagre, graphlib } from "@dagrejs/dagre";

interface LayoutNode extends Size {
  id: string;
  /** The graph that is shown inside the node. The node grows to the size of this graph. */
  inside?: LayoutRequest;
}

export interface LayoutRequest {
  nodes: LayoutNode[];
  /** `room` is the width in pixels that an edge needs in addition to its label. */
  edges: { from: string; to: string; label: string; room: number }[];
}

interface Size {
  width: number;
  height: number;
}

/**
 * The upper left corner of a node. If the node is inside another node, the position is relative to the corner of the
 * outer node.
 */
export interface Placed extends Point, Size {
  id: string;
  parent: string | undefined;
}

export interface Point {
  x: number;
  y: number;
}

/** The points of an edge around the nodes, in coordinates of the whole graph. */
export interface Route {
  from: string;
  to: string;
  points: Point[];
  /** The centre of the edge's label. */
  label: Point | undefined;
}

export interface Layout {
  nodes: Placed[];
  routes: Route[];
}

/** Computes layouts in a worker, because dagre takes hundreds of milliseconds for hundreds of nodes. */
addEventListener("message", ({ data }: MessageEvent<{ id: number; request: LayoutRequest }>) => {
  const { nodes, routes } = placeNodes(data.request, undefined);
  postMessage({ id: data.id, layout: { nodes, routes } });
});

/**
 * Pixels between the border of a node and the graph inside it: above this graph, where the title is, and at its other
 * sides.
 */
const head = 72;
const padding = 18;

/**
 * Computes the position of every node, top to bottom. The graphs inside nodes come first, because each determines the
 * size of its node.
 */
function placeNodes({ nodes, edges }: LayoutRequest, parent: string | undefined): Layout & { size: Size } {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 34, ranksep: 44, edgesep: 18, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const inside = new Map(nodes.map((node) => [node.id, placeBody(node)]));
  for (const [id, { size }] of inside) graph.setNode(id, { ...size });
  for (const [index, { from, to, label, room }] of edges.entries()) {
    if (!graph.hasNode(from) || !graph.hasNode(to)) continue;
    const width = label.length * 7 + room;
    graph.setEdge(from, to, { width, height: label === "" ? 0 : 16, labelpos: "c" }, String(index));
  }
  dagre(graph);
  const begin = parent === undefined ? { x: 0, y: 0 } : { x: padding, y: head };
  const own = nodes.map(({ id }): Placed => {
    const { x, y, width, height } = graph.node(id) as Size & Point;
    return { id, parent, width, height, x: x - width / 2 + begin.x, y: y - height / 2 + begin.y };
  });
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>;
  return {
    nodes: [...own, ...Array.from(inside.values()).flatMap((one) => one.nodes)],
    routes: [
      ...readRoutes(graph).map((route) => moveRoute(route, begin)),
      ...own.flatMap((place) => inside.get(place.id)?.routes.map((route) => moveRoute(route, place)) ?? []),
    ],
    size: { width, height },
  };
}

function placeBody({ id, width, height, inside }: LayoutNode): Layout & { size: Size } {
  if (!inside || inside.nodes.length === 0) return { size: { width, height }, nodes: [], routes: [] };
  const { nodes, routes, size } = placeNodes(inside, id);
  const whole = { width: size.width + 2 * padding, height: size.height + head + padding };
  return { nodes, routes, size: { width: Math.max(width, whole.width), height: Math.max(height, whole.height) } };
}

function readRoutes(graph: graphlib.Graph): Route[] {
  return graph.edges().map((edge): Route => {
    const { points, x, y } = graph.edge(edge) as { points: Point[] } & Partial<Point>;
    const label = x === undefined || y === undefined ? undefined : { x, y };
    return { from: edge.v, to: edge.w, points: points.map((point) => ({ x: point.x, y: point.y })), label };
  });
}

function moveRoute({ points, label, ...route }: Route, by: Point): Route {
  const move = ({ x, y }: Point) => ({ x: x + by.x, y: y + by.y });
  return { ...route, points: points.map(move), label: label && move(label) };
}
