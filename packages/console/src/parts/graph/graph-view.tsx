import "@xyflow/react/dist/base.css";
import "./graph.css";
import {
  Background,
  BackgroundVariant,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  getViewportForBounds,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  type NodeTypes,
  Position,
  ReactFlow,
  ReactFlowProvider,
  type Rect,
  useReactFlow,
  type Viewport,
} from "@xyflow/react";
import {
  type JSX,
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { texts } from "../../texts.ts";
import { Icon, type IconName } from "../icon.tsx";
import { Loading } from "../states.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import type { Graph, GraphEdge, GraphNode } from "./definition.ts";
import type { Layout, LayoutRequest, Placed, Point, Route } from "./layout.worker.ts";

/** The look of an edge. */
export interface EdgeLook {
  /** The edge gets the class `edge-<state>` and the colour `--edge-<state>`. */
  state: string;
  label: string;
  isAbove: boolean;
}

interface GraphViewProps<Data> {
  graph: Graph;
  label: string;
  /** Describes the card of a node. Pass the same function on every render. */
  showCard(data: Data & CardData): CardLook;
  /** Data for the card of a node. The values must be plain: a card is rendered again only if their JSON changes. */
  dataOf(node: GraphNode): Data;
  lookOf(edge: GraphEdge): EdgeLook;
  selected: string | undefined;
  onSelect(node: string): void;
  /** The height of a card in pixels. Pass the same function on every render. */
  getHeight?(node: GraphNode): number;
  /** Which nodes are unfolded; needed only if another component stores this. */
  folding?: Folding;
}

export interface Folding {
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  /** Whether a node without a body can be unfolded. */
  canOpen(node: GraphNode): boolean;
}

const size = { width: 204, height: 50 };
const mapHeight = 58;

/** A graph whose maps unfold to the nodes in their body. */
export function GraphView<Data extends object>(props: GraphViewProps<Data>): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow<Data extends object>({ graph, label, showCard, lookOf, ...props }: GraphViewProps<Data>): JSX.Element {
  const nodeTypes = useMemo(() => createNodeTypes(showCard), [showCard]);
  const ownFolding = useFolding();
  const folding = props.folding ?? ownFolding;
  const { opened } = folding;
  const { getHeight = getDefaultHeight } = props;
  const request = useMemo(() => buildRequest(graph, opened, getHeight), [graph, opened, getHeight]);
  const layout = useLayout(request);
  const nodes = useNodes(graph, layout, folding, props);
  const edges = useMemo(
    () => layout && buildEdges(graph, opened, lookOf, groupRoutes(layout)),
    [graph, opened, lookOf, layout],
  );
  const box = useRef<HTMLDivElement>(null);
  useFit(box, layout);
  const { onSelect } = props;
  return (
    <div ref={box} className="graph-box">
      {edges ? (
        <ReactFlow
          className="graph"
          aria-label={label}
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodeClick={(_, node) => onSelect(node.id)}
          onKeyDown={(event) => selectByKey(event, onSelect)}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          minZoom={minZoom}
          maxZoom={1.6}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
          <Controls showInteractive={false} />
        </ReactFlow>
      ) : (
        <Loading lines={5} />
      )}
    </div>
  );
}

function createNodeTypes<Data extends object>(showCard: (data: Data & CardData) => CardLook): NodeTypes {
  const Card = ({ data, selected }: NodeProps<Node<Data & CardData, "card">>) => (
    <NodeCard {...data} {...showCard(data)} selected={selected} />
  );
  return { card: memo(Card) };
}

function useFolding(): Folding {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setOpened((before) => before.symmetricDifference(new Set([id]))), []);
  return useMemo(() => ({ opened, toggle, canOpen: () => false }), [opened, toggle]);
}

/** Selects the focused node on Enter and Space, as a button does. */
function selectByKey(event: KeyboardEvent, onSelect: (node: string) => void): void {
  const node = (event.target as Element).closest<HTMLElement>(".react-flow__node")?.dataset.id;
  const isOnButton = (event.target as Element).closest("button") !== null;
  if (node === undefined || isOnButton || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  event.stopPropagation();
  onSelect(node);
}

function getDefaultHeight({ type }: Pick<GraphNode, "type">): number {
  return type === "map" ? mapHeight : size.height;
}

function buildRequest(
  { nodes, edges }: Graph,
  opened: ReadonlySet<string>,
  getHeight: (node: GraphNode) => number,
): LayoutRequest {
  return {
    nodes: nodes.map((node) => {
      const { id, body } = node;
      return {
        id,
        width: size.width,
        height: getHeight(node),
        ...(body && opened.has(id) && { inside: buildRequest(body, opened, getHeight) }),
      };
    }),
    // Reserves space for the counter after the label.
    edges: edges.map(({ from, to, label, max }) => ({
      from,
      to,
      label: max === undefined ? label : `${label} ${max}/${max}`,
    })),
  };
}

/** Keeps the object of an unchanged node, so that React Flow does not render it again. */
function useNodes<Data extends object>(
  graph: Graph,
  layout: Layout | undefined,
  { opened, toggle, canOpen }: Folding,
  { dataOf, selected }: Pick<GraphViewProps<Data>, "dataOf" | "selected">,
): Node<Data & CardData>[] {
  const byId = useMemo(() => indexNodes(graph), [graph]);
  const before = useRef(new Map<string, { appearance: string; created: Node<Data & CardData> }>());
  return useMemo(() => {
    return (layout?.nodes ?? []).flatMap((place) => {
      const node = byId.get(place.id);
      if (!node) return [];
      const isOpen = opened.has(place.id) && node.body !== undefined;
      const data = { ...dataOf(node), node, isOpen, canOpen: node.body !== undefined || canOpen(node), toggle };
      const isSelected = place.id === selected;
      const appearance = JSON.stringify([place, data, isSelected]);
      const previous = before.current.get(place.id);
      if (previous?.appearance === appearance && previous.created.data.toggle === toggle) return [previous.created];
      const created = createNode(place, data, isSelected);
      before.current.set(place.id, { appearance, created });
      return [created];
    });
  }, [layout, byId, opened, toggle, canOpen, dataOf, selected]);
}

function createNode<Data extends CardData>(place: Placed, data: Data, selected: boolean): Node<Data> {
  const { id, x, y, width, height, parent } = place;
  return {
    id,
    type: "card",
    position: { x, y },
    width,
    height,
    data,
    selected,
    ...(parent !== undefined && { parentId: parent }),
    zIndex: parent === undefined ? 0 : 1,
    ariaLabel: data.node.name,
  };
}

function indexNodes(graph: Graph): Map<string, GraphNode> {
  return new Map(
    graph.nodes.flatMap((node) => [[node.id, node] as const, ...(node.body ? indexNodes(node.body) : [])]),
  );
}

function pairKey({ from, to }: { from: string; to: string }): string {
  return `${from}>${to}`;
}

/** Groups routes by their pair of nodes. Parallel edges have one route each. */
function groupRoutes({ routes }: Layout): Map<string, Route[]> {
  return Map.groupBy(routes, pairKey);
}

function buildEdges(
  { nodes, edges }: Graph,
  opened: ReadonlySet<string>,
  lookOf: (edge: GraphEdge) => EdgeLook,
  routes: Map<string, Route[]>,
): RouteEdge[] {
  const used = new Map<string, number>();
  return [
    ...edges.flatMap((edge): RouteEdge[] => {
      const way = pairKey(edge);
      const count = used.get(way) ?? 0;
      used.set(way, count + 1);
      const route = routes.get(way)?.[count];
      return route ? [createEdge(route, edge, `${way}>${count}`, lookOf(edge))] : [];
    }),
    ...nodes.flatMap(({ id, body }) => (body && opened.has(id) ? buildEdges(body, opened, lookOf, routes) : [])),
  ];
}

function createEdge(route: Route, edge: GraphEdge, id: string, { state, label, isAbove }: EdgeLook): RouteEdge {
  const { from, to, isOnError } = edge;
  return {
    id,
    source: from,
    target: to,
    type: "route",
    label,
    data: { route },
    className: `edge edge-${state} ${isOnError ? "edge-error" : ""}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: `var(--edge-${state})` },
    zIndex: isAbove ? 1 : 0,
  };
}

export type RouteEdge = Edge<{ route: Route }, "route">;

/** Draws an edge along the route that the layout computed. */
export const RouteLine = memo(function RouteLine({ data, label, markerEnd }: EdgeProps<RouteEdge>): JSX.Element | null {
  if (!data) return null;
  const { points, label: place } = data.route;
  return (
    <BaseEdge
      path={drawCurve(points)}
      {...(markerEnd !== undefined && { markerEnd })}
      {...(label && place && { label, labelX: place.x, labelY: place.y })}
      labelBgPadding={[4, 2]}
      labelBgBorderRadius={3}
    />
  );
});

const edgeTypes = { route: RouteLine };

/** Draws a curve through the middle of each segment, bent towards the points. */
function drawCurve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const middles = rest.map((point, index) => middle(points[index] as Point, point));
  const bends = middles.slice(1).map((point, index) => `Q${at(rest[index] as Point)} ${at(point)}`);
  const [begin, end] = [middles[0], rest.at(-1)];
  return [`M${at(first)}`, ...(begin ? [`L${at(begin)}`] : []), ...bends, ...(end ? [`L${at(end)}`] : [])].join(" ");
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

function at({ x, y }: Point): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

export const minZoom = 0.1;
/** At this zoom, titles are eight pixels high. */
const leastReadable = 0.6;
const margin = 24;

/**
 * Fits the whole graph into its box after each layout, and again when the box changes its size, unless the user has
 * moved the graph. The box may have no size at first: on a phone, another view may be shown.
 */
export function useFit(box: RefObject<HTMLElement | null>, layout: Layout | undefined): void {
  const { getViewport, setViewport } = useReactFlow();
  const fitted = useRef<Viewport>(undefined);
  useEffect(() => {
    const element = box.current;
    if (!layout || !element) return undefined;
    let isPlaced = false;
    const fit = () => {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || (isPlaced && isMoved(getViewport(), fitted.current))) return;
      const view = fitReadable(measureBounds(layout), width, height);
      void setViewport(view, fitted.current && !isPlaced ? { duration: 200 } : {});
      isPlaced = true;
      fitted.current = view;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, layout, getViewport, setViewport]);
}

function isMoved(now: Viewport, { x, y, zoom } = now): boolean {
  return Math.hypot(now.x - x, now.y - y) > 1 || Math.abs(now.zoom - zoom) > 0.001;
}

/** Shows the start of a graph that would be too small to read as a whole. */
function fitReadable(bounds: Rect, width: number, height: number): Viewport {
  const whole = getViewportForBounds(bounds, width, height, minZoom, 1, 0.08);
  if (whole.zoom >= leastReadable) return whole;
  return { zoom: leastReadable, x: (width - bounds.width * leastReadable) / 2, y: margin };
}

function measureBounds({ nodes }: Layout): Rect {
  const outer = nodes.filter(({ parent }) => parent === undefined);
  const right = outer.reduce((most, { x, width }) => Math.max(most, x + width), 0);
  const bottom = outer.reduce((most, { y, height }) => Math.max(most, y + height), 0);
  return { x: 0, y: 0, width: right, height: bottom };
}

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (layout: Layout) => void>();

function requestLayout(request: LayoutRequest, then: (layout: Layout) => void): () => void {
  worker ??= openWorker();
  const id = ++lastId;
  waiting.set(id, then);
  worker.postMessage({ id, request });
  return () => void waiting.delete(id);
}

function openWorker(): Worker {
  const opened = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  opened.addEventListener("message", ({ data }: MessageEvent<{ id: number; layout: Layout }>) => {
    waiting.get(data.id)?.(data.layout);
    waiting.delete(data.id);
  });
  return opened;
}

/**
 * Returns the layout; undefined before the first one is computed. The previous layout stays until the next one is
 * ready.
 */
export function useLayout(request: LayoutRequest): Layout | undefined {
  const [layout, setLayout] = useState<Layout>();
  // An open run requests the same layout on every poll, so requests are compared by their text.
  const text = JSON.stringify(request);
  useEffect(() => requestLayout(JSON.parse(text), setLayout), [text]);
  return layout;
}

/** Data that every card gets. */
export interface CardData extends Record<string, unknown> {
  node: GraphNode;
  isOpen: boolean;
  canOpen: boolean;
  toggle(id: string): void;
}

export interface CardLook {
  tone: string;
  /** Selects the outline in CSS. */
  state: string;
  note: string;
  /** Content at the right end of the card. */
  end?: ReactNode;
  /** Content below the title. */
  children?: ReactNode;
}

interface NodeCardProps extends CardData, CardLook {
  selected: boolean;
}

/** The card of one node. */
export function NodeCard({
  node,
  isOpen,
  canOpen,
  toggle,
  tone,
  state,
  selected,
  note,
  end,
  children,
}: NodeCardProps): JSX.Element {
  return (
    <div
      className={`node tone-${tone} ${isOpen ? "node-open" : ""}`}
      data-state={state}
      data-selected={selected || undefined}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <div className="node-head row">
        <span className="disc square">
          <Icon name={getKindIcon(node.type, node.isPrompt)} size={14} />
        </span>
        <span className="lines node-text">
          <b title={node.description}>
            <UntrustedText text={node.name} />
          </b>
          <span className="node-note">{note}</span>
        </span>
        {end}
        {canOpen && (
          <button
            type="button"
            className="node-fold center nodrag"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? texts.graph.fold : texts.graph.unfold} ${node.name}`}
            onClick={(event) => {
              event.stopPropagation();
              toggle(node.id);
            }}
          >
            <Icon name={isOpen ? "minus" : "plus"} size={12} />
          </button>
        )}
      </div>
      {children}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

const icons: Record<string, IconName> = {
  start: "play",
  end: "flag",
  decision: "branch",
  map: "map",
  approval: "person",
  wait: "clock",
  workflow: "flow",
};

/** Returns the icon of a node type. */
export function getKindIcon(type: string, isPrompt: boolean): IconName {
  return isPrompt ? "spark" : (icons[type] ?? "code");
}
