export interface LayoutNode {
  id: string;
  width: number;
  height: number;
  /** What lies inside of it; it becomes as large as that needs. */
  inside?: LayoutRequest;
}

export interface LayoutRequest {
  nodes: LayoutNode[];
  edges: { from: string; to: string; label: string }[];
}

/** Places are those of upper left corners, of nodes inside of others within those. */
export interface Placed {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
  parent: string | undefined;
}

export interface Point {
  x: number;
  y: number;
}

/** The way of an edge around the nodes, from the place of the whole graph. */
export interface Route {
  from: string;
  to: string;
  points: Point[];
  /** Where its label has room. */
  label: Point | undefined;
}

export interface Layout {
  nodes: Placed[];
  routes: Route[];
}
