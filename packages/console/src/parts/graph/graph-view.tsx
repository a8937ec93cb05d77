import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  MarkerType,
  type Node,
  type NodeTypes,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { type JSX, type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Loading } from "../states.tsx";
import type { Graph, GraphEdge, GraphNode } from "./definition.ts";
import type { LayoutRequest, Placed } from "./layout-types.ts";
import type { CardData } from "./node-card.tsx";
import { useLayout } from "./use-layout.ts";
import "@xyflow/react/dist/base.css";
import "./graph.css";

/** How an edge is drawn. */
export interface EdgeLook {
  /** Names the colour `--edge-<state>`. */
  state: string;
  label: string;
  isAbove: boolean;
}

interface GraphViewProps<Data> {
  graph: Graph;
  label: string;
  /** One component under the name `card`; it stays the same. */
  nodeTypes: NodeTypes;
  /** What the card of a node gets besides the node. Keep it as long as its answers stay the same: else all is drawn again. */
  dataOf(node: GraphNode): Data;
  lookOf(edge: GraphEdge): EdgeLook;
  selected: string | undefined;
  onSelect(node: string): void;
}

const size = { width: 204, height: 50 };
const mapHeight = 58;

/** A graph of nodes and edges, whose maps open to what is inside of them. */
export function GraphView<Data extends object>(props: GraphViewProps<Data>): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow<Data extends object>({ graph, label, nodeTypes, ...props }: GraphViewProps<Data>): JSX.Element {
  const { dataOf, lookOf, selected, onSelect } = props;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setOpened((before) => before.symmetricDifference(new Set([id]))), []);
  const request = useMemo(() => requestOf(graph, opened), [graph, opened]);
  const placed = useLayout(request);
  const byId = useMemo(() => nodesById(graph), [graph]);
  const nodes = useMemo(
    () => (placed ?? []).flatMap((one) => nodeAt(one, { byId, opened, selected, toggle, dataOf })),
    [placed, byId, opened, selected, toggle, dataOf],
  );
  const edges = useMemo(() => edgesOf(graph, opened, lookOf), [graph, opened, lookOf]);
  useFitted(placed);
  if (!placed) return <Loading lines={5} />;
  const choose = (event: KeyboardEvent) => {
    const node = (event.target as Element).closest<HTMLElement>(".react-flow__node")?.dataset.id;
    const isOnButton = (event.target as Element).closest("button") !== null;
    if (node === undefined || isOnButton || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(node);
  };
  return (
    <ReactFlow
      className="graph"
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodeClick={(_, node) => onSelect(node.id)}
      onKeyDown={choose}
      onlyRenderVisibleElements
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      minZoom={0.1}
      maxZoom={1.6}
      fitView
      fitViewOptions={{ padding: 0.12, maxZoom: 1 }}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
      <Controls showInteractive={false} />
    </ReactFlow>
  );
}

/** All of it is in sight at first, and again after something has been opened. */
function useFitted(placed: readonly Placed[] | undefined): void {
  const { fitView } = useReactFlow();
  const isFitted = useRef(false);
  useEffect(() => {
    if (!placed) return;
    const animated = isFitted.current ? { duration: 200 } : {};
    isFitted.current = true;
    requestAnimationFrame(() => void fitView({ padding: 0.12, maxZoom: 1, ...animated }));
  }, [placed, fitView]);
}

function requestOf({ nodes, edges }: Graph, opened: ReadonlySet<string>): LayoutRequest {
  return {
    nodes: nodes.map(({ id, body }) => ({
      ...{ id, width: size.width, height: body ? mapHeight : size.height },
      ...(body && opened.has(id) && { inside: requestOf(body, opened) }),
    })),
    edges: edges.map(({ from, to, label }) => ({ from, to, label })),
  };
}

interface Drawing<Data> extends Pick<GraphViewProps<Data>, "dataOf" | "selected"> {
  byId: ReadonlyMap<string, GraphNode>;
  opened: ReadonlySet<string>;
  toggle(id: string): void;
}

function nodeAt<Data extends object>(
  { id, x, y, width, height, parent }: Placed,
  { byId, opened, selected, toggle, dataOf }: Drawing<Data>,
): Node<Data & CardData>[] {
  const node = byId.get(id);
  if (!node) return [];
  const isOpen = opened.has(id) && node.body !== undefined;
  const data = { ...dataOf(node), node, isOpen, toggle };
  return [
    {
      ...{ id, type: "card", position: { x, y }, width, height, data, selected: id === selected },
      ...(parent !== undefined && { parentId: parent }),
      zIndex: parent === undefined ? 0 : 1,
      ariaLabel: node.name,
    },
  ];
}

function nodesById(graph: Graph): Map<string, GraphNode> {
  return new Map(graph.nodes.flatMap((node) => [[node.id, node] as const, ...(node.body ? nodesById(node.body) : [])]));
}

function edgesOf({ nodes, edges }: Graph, opened: ReadonlySet<string>, lookOf: (edge: GraphEdge) => EdgeLook): Edge[] {
  return [
    ...edges.map((edge, index): Edge => {
      const { from, to, isOnError } = edge;
      const { state, label, isAbove } = lookOf(edge);
      return {
        ...{ id: `${from}>${to}>${index}`, source: from, target: to, type: "smoothstep", label },
        className: `edge edge-${state} ${isOnError ? "edge-error" : ""}`,
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: `var(--edge-${state})` },
        pathOptions: { borderRadius: 10 },
        zIndex: isAbove ? 1 : 0,
      } as Edge;
    }),
    ...nodes.flatMap(({ id, body }) => (body && opened.has(id) ? edgesOf(body, opened, lookOf) : [])),
  ];
}
