import "@xyflow/react/dist/base.css";
import "./graph.css";
import {
  Background,
  BackgroundVariant,
  Controls,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeProps,
  type NodeTypes,
  Position,
  ReactFlow,
  ReactFlowProvider,
  type Viewport,
} from "@xyflow/react";
import {
  type JSX,
  type KeyboardEvent,
  memo,
  type ReactNode,
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
import { AppendButton, type GraphEditing, movePlaces, useMoving } from "./editing.tsx";
import type { Layout, LayoutRequest, Placed, Route } from "./layout.worker.ts";
import { type RouteEdge, RouteLine } from "./route-line.tsx";
import { formatView, maxZoom, minZoom, useFit, useFollowed } from "./viewport.ts";

/** The look of an edge. */
export interface EdgeLook {
  /** The edge gets the class `edge-<state>` and the colour `--edge-<state>`. */
  state: string;
  label: string;
  isAbove: boolean;
}

interface GraphViewProps {
  graph: Graph;
  label: string;
  /** Describes the card of a node. Pass the same function while the cards stay the same. */
  describeCard(node: GraphNode): CardLook;
  lookOf(edge: GraphEdge): EdgeLook;
  selected: string | undefined;
  onSelect(node: string): void;
  /** The height of a card in pixels. Pass the same function on every render. */
  getHeight?(node: GraphNode): number;
  /** Which nodes are unfolded; needed only if another component stores this. */
  folding?: Folding;
  /** Present if the user can change the graph. */
  editing?: GraphEditing;
  /** The visible part of the graph as text: the `x` and `y` of its middle, and the zoom. Undefined: the whole graph. */
  view?: string | undefined;
  onView?(view: string | undefined): void;
  /** The id of the node to which the graph moves. */
  followed?: string | undefined;
  /** Further buttons. */
  children?: ReactNode;
}

export interface Folding {
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  /** Whether a node without a body can be unfolded. */
  canOpen(node: GraphNode): boolean;
}

const size = { width: 204, height: 50 };
const mapHeight = 58;
/** Pixels beside the label of an edge for the button that inserts a node. */
const insertRoom = 56;

/**
 * A graph whose maps unfold to show the nodes in their body. A graph that the user can change shows one level only, and
 * the button of a map opens its nodes.
 */
export function GraphView(props: GraphViewProps): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ graph, label, lookOf, ...props }: GraphViewProps): JSX.Element {
  const ownFolding = useFolding();
  const folding = props.folding ?? ownFolding;
  const { opened } = folding;
  const { getHeight = getDefaultHeight } = props;
  const { editing } = props;
  const buttonRoom = editing ? insertRoom : 0;
  const request = useMemo(
    () => buildRequest(graph, opened, getHeight, buttonRoom),
    [graph, opened, getHeight, buttonRoom],
  );
  const computed = useLayout(request);
  const { positions, onNodesChange } = useMoving(editing);
  const layout = useMemo(() => computed && movePlaces(computed, positions), [computed, positions]);
  const nodes = useNodes(graph, layout, folding, props);
  const edges = useMemo(
    () => layout && buildEdges(graph, opened, lookOf, Map.groupBy(layout.routes, pairKey), editing?.onInsert),
    [graph, opened, lookOf, layout, editing?.onInsert],
  );
  const box = useRef<HTMLDivElement>(null);
  const { onSelect, onView } = props;
  const isFitted = useFit(box, computed, props.view);
  useFollowed(layout, props.followed);
  const onMoveEnd = (_: unknown, viewport: Viewport) =>
    onView?.(isFitted(viewport) ? undefined : formatView(viewport, box.current));
  return (
    <div ref={box} className="graph-box">
      {edges ? (
        <ReactFlow
          className={editing ? "graph graph-editable" : "graph"}
          aria-label={label}
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodeClick={(_, node) => onSelect(node.id)}
          onKeyDown={(event) => selectByKey(event, onSelect, editing?.onDelete)}
          {...(onNodesChange && { onNodesChange })}
          onMoveEnd={onMoveEnd}
          onConnect={({ source, target }) => editing?.onConnect(source, target)}
          onlyRenderVisibleElements
          nodesDraggable={editing !== undefined}
          nodesConnectable={editing !== undefined}
          deleteKeyCode={null}
          edgesFocusable={false}
          minZoom={minZoom}
          maxZoom={maxZoom}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
          <Controls showInteractive={false}>{props.children}</Controls>
          {nodes.length > mostWithoutMap && (
            <MiniMap pannable zoomable ariaLabel={texts.graph.map} nodeColor={colourOf} />
          )}
        </ReactFlow>
      ) : (
        <Loading lines={5} />
      )}
    </div>
  );
}

/** A graph with more nodes has a small map of the whole graph. */
const mostWithoutMap = 40;

function colourOf({ data }: Node): string {
  return `var(--${typeof data.tone === "string" ? data.tone : "idle"})`;
}

const nodeTypes: NodeTypes = { card: memo(NodeCard) };

function useFolding(): Folding {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setOpened((before) => before.symmetricDifference(new Set([id]))), []);
  return useMemo(() => ({ opened, toggle, canOpen: () => false }), [opened, toggle]);
}

/** Selects the focused node on Enter and Space, and deletes it on Delete and Backspace if `onDelete` is present. */
function selectByKey(event: KeyboardEvent, onSelect: (node: string) => void, onDelete?: (node: string) => void): void {
  const node = (event.target as Element).closest<HTMLElement>(".react-flow__node")?.dataset.id;
  const isOnButton = (event.target as Element).closest("button") !== null;
  const isDelete = onDelete !== undefined && (event.key === "Delete" || event.key === "Backspace");
  if (node === undefined || isOnButton || !(isDelete || event.key === "Enter" || event.key === " ")) return;
  event.preventDefault();
  event.stopPropagation();
  if (isDelete) onDelete(node);
  else onSelect(node);
}

function getDefaultHeight({ type }: Pick<GraphNode, "type">): number {
  return type === "map" ? mapHeight : size.height;
}

function buildRequest(
  { nodes, edges }: Graph,
  opened: ReadonlySet<string>,
  getHeight: (node: GraphNode) => number,
  room: number,
): LayoutRequest {
  return {
    nodes: nodes.map((node) => {
      const { id, body } = node;
      const inside = body && opened.has(id) && { inside: buildRequest(body, opened, getHeight, room) };
      return { id, width: size.width, height: getHeight(node), ...inside };
    }),
    // Reserves space for the counter after the label.
    edges: edges.map(({ from, to, label, max }) => {
      return { from, to, label: max === undefined ? label : `${label} ${max}/${max}`, room };
    }),
  };
}

/** Keeps the object of an unchanged node, so that React Flow does not render it again. */
function useNodes(
  graph: Graph,
  layout: Layout | undefined,
  { opened, toggle, canOpen }: Folding,
  { describeCard, selected, editing }: Pick<GraphViewProps, "describeCard" | "selected" | "editing">,
): CardNode[] {
  const byId = useMemo(() => indexNodes(graph), [graph]);
  const append = editing?.onAppend;
  const before = useRef(new Map<string, { appearance: string; created: CardNode }>());
  return useMemo(() => {
    return (layout?.nodes ?? []).flatMap((place) => {
      const node = byId.get(place.id);
      if (!node) return [];
      const isOpen = opened.has(place.id) && node.body !== undefined;
      const isFolder = node.body !== undefined || canOpen(node);
      const data = { ...describeCard(node), node, isOpen, canOpen: isFolder, toggle, append };
      const isSelected = place.id === selected;
      const appearance = JSON.stringify([place, data, isSelected]);
      const previous = before.current.get(place.id);
      const isSame = previous?.created.data.toggle === toggle && previous.created.data.append === append;
      if (previous?.appearance === appearance && isSame) return [previous.created];
      const created = createNode(place, data, isSelected);
      before.current.set(place.id, { appearance, created });
      return [created];
    });
  }, [layout, byId, opened, toggle, append, canOpen, describeCard, selected]);
}

function createNode(place: Placed, data: CardData, selected: boolean): CardNode {
  const { id, x, y, width, height, parent } = place;
  return {
    id,
    type: "card",
    position: { x, y },
    width,
    height,
    // Without these, React Flow measures the card again after each change of its data. If two changes follow each other
    // quickly, it may miss the second measurement, and then draws no edges of the card.
    handles: [
      { type: "target", position: Position.Top, x: width / 2, y: 0 },
      { type: "source", position: Position.Bottom, x: width / 2, y: height },
    ],
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

function buildEdges(
  { nodes, edges }: Graph,
  opened: ReadonlySet<string>,
  lookOf: (edge: GraphEdge) => EdgeLook,
  /** The routes by their pair of nodes. Parallel edges have one route each. */
  routes: Map<string, Route[]>,
  insert: ((edge: GraphEdge) => void) | undefined,
): RouteEdge[] {
  const used = new Map<string, number>();
  return [
    ...edges.flatMap((edge): RouteEdge[] => {
      const way = pairKey(edge);
      const count = used.get(way) ?? 0;
      used.set(way, count + 1);
      const route = routes.get(way)?.[count];
      return route ? [createEdge(route, edge, `${way}>${count}`, lookOf(edge), insert)] : [];
    }),
    ...nodes.flatMap(({ id, body }) =>
      body && opened.has(id) ? buildEdges(body, opened, lookOf, routes, undefined) : [],
    ),
  ];
}

function createEdge(
  route: Route,
  edge: GraphEdge,
  id: string,
  { state, label, isAbove }: EdgeLook,
  insert: ((edge: GraphEdge) => void) | undefined,
): RouteEdge {
  const { from, to, isOnError } = edge;
  return {
    id,
    source: from,
    target: to,
    type: "route",
    label,
    data: { route, ...(insert && !isOnError && { insert: () => insert(edge) }) },
    className: `edge edge-${state} ${isOnError ? "edge-error" : ""}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: `var(--edge-${state})` },
    zIndex: isAbove ? 1 : 0,
  };
}

const edgeTypes = { route: RouteLine };

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
function useLayout(request: LayoutRequest): Layout | undefined {
  const [layout, setLayout] = useState<Layout>();
  // An open run requests the same layout on every poll, so requests are compared by their text.
  const text = JSON.stringify(request);
  useEffect(() => requestLayout(JSON.parse(text), setLayout), [text]);
  return layout;
}

/** The look of a card. The values are plain, because a card is rendered again only if their JSON changes. */
export interface CardLook {
  tone: string;
  /** The CSS selects the outline of the card by this name. */
  state: string;
  note: string;
  /** The mark at the right end of the card: its icon or a dot, what the mark means, and a number. */
  mark?: { icon: IconName | undefined; label: string; tone?: string; count?: number };
  /** Text below the title. */
  line?: { text: string; isBad: boolean };
  /** Shares of 0 to 1 of a bar below the title, each with its colour. */
  shares?: readonly (readonly [tone: string, share: number])[] | undefined;
}

interface CardData extends CardLook, Record<string, unknown> {
  node: GraphNode;
  isOpen: boolean;
  canOpen: boolean;
  toggle(id: string): void;
  /** Adds a node after this one; absent if the graph cannot be changed. */
  append?: ((id: string) => void) | undefined;
}

type CardNode = Node<CardData, "card">;

/** The card of one node. */
function NodeCard({ data, selected }: NodeProps<CardNode>): JSX.Element {
  const { node, isOpen, canOpen, toggle, append, tone, state, note, mark, line, shares } = data;
  return (
    <div
      className={`node tone-${tone} ${isOpen ? "node-open" : ""}`}
      data-state={state}
      data-selected={selected || undefined}
    >
      <Handle type="target" position={Position.Top} isConnectable={append !== undefined} />
      <div className="node-head row">
        <span className="disc square">
          <Icon name={node.isPrompt ? "spark" : (icons[node.type] ?? "code")} size={14} />
        </span>
        <span className="lines node-text">
          <b title={node.description}>
            <UntrustedText text={node.name} />
          </b>
          <span className="node-note">{note}</span>
        </span>
        {mark && (
          <span
            className={`node-state row tight tone-${mark.tone ?? tone}`}
            role="img"
            aria-label={mark.label}
            title={mark.label}
          >
            {mark.icon ? <Icon name={mark.icon} size={14} /> : <span className="dot" />}
            {mark.count}
          </span>
        )}
        {canOpen && (
          <button
            type="button"
            className="node-fold center nodrag"
            aria-expanded={append ? undefined : isOpen}
            aria-label={`${append ? texts.graph.enter : isOpen ? texts.graph.fold : texts.graph.unfold} ${node.name}`}
            onClick={(event) => {
              event.stopPropagation();
              toggle(node.id);
            }}
          >
            <Icon name={append ? "right" : isOpen ? "minus" : "plus"} size={12} />
          </button>
        )}
      </div>
      {line && (
        <UntrustedText as="p" className={`node-line ellipsis mono quiet ${line.isBad ? "bad" : ""}`} text={line.text} />
      )}
      {shares && (
        <span className="node-progress share-bar">
          {shares.map(([colour, share]) => (
            <span key={colour} className={`tone-${colour}`} style={{ width: `${share * 100}%` }} />
          ))}
        </span>
      )}
      {append && node.type !== "end" && <AppendButton name={node.name} onAppend={() => append(node.id)} />}
      <Handle type="source" position={Position.Bottom} isConnectable={append !== undefined} />
    </div>
  );
}

/** The icons of types of nodes; other nodes run code. */
const icons: Record<string, IconName> = {
  start: "play",
  end: "flag",
  decision: "branch",
  map: "map",
  approval: "person",
  wait: "clock",
  workflow: "flow",
  agent: "spark",
};
