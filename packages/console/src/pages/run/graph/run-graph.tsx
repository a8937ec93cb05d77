import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  getViewportForBounds,
  MarkerType,
  ReactFlow,
  ReactFlowProvider,
  type Rect,
  useReactFlow,
} from "@xyflow/react";
import { type JSX, type RefObject, useEffect, useMemo, useRef } from "react";
import { Loading } from "../../../parts/states.tsx";
import { texts } from "../../../texts.ts";
import type { Graph } from "../model/definition.ts";
import { edgeKey, type RunModel } from "../model/run-model.ts";
import type { LayoutRequest, Placed } from "./layout-types.ts";
import { type RunNode, RunNodeCard, type RunNodeData } from "./run-node.tsx";
import { useLayout } from "./use-layout.ts";
import "@xyflow/react/dist/base.css";
import "./run-graph.css";

interface RunGraphProps {
  model: RunModel;
  /** Maps and runs that show what is inside of them. */
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { run: RunNodeCard };
const size = { width: 204, height: 50 };
const mapHeight = 58;
const minZoom = 0.1;

/** The graph of a run, which lights up as it goes on. */
export function RunGraph(props: RunGraphProps): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ model, opened, toggle, selected, onSelect }: RunGraphProps): JSX.Element {
  const request = useMemo(() => requestOf(model.graph, opened), [model.graph, opened]);
  const placed = useLayout(request);
  const nodes = useNodes(model, placed, opened, selected, toggle);
  const edges = useMemo(() => edgesOf(model, opened), [model, opened]);
  const box = useRef<HTMLDivElement>(null);
  useFit(box, placed);
  return (
    <div ref={box} className="run-graph-fill">
      {placed ? <Drawn {...{ nodes, edges, onSelect }} /> : <Loading lines={5} />}
    </div>
  );
}

/** The whole graph in sight, when it is placed and when its box first has a size. */
function useFit(box: RefObject<HTMLDivElement | null>, placed: readonly Placed[] | undefined): void {
  const { setViewport } = useReactFlow();
  const isFitted = useRef(false);
  useEffect(() => {
    const element = box.current;
    if (!placed || !element) return undefined;
    let isDone = false;
    const fit = () => {
      const { width, height } = element.getBoundingClientRect();
      if (isDone || width === 0) return;
      isDone = true;
      const view = getViewportForBounds(boundsOf(placed), width, height, minZoom, 1, 0.08);
      void setViewport(view, isFitted.current ? { duration: 200 } : {});
      isFitted.current = true;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, placed, setViewport]);
}

function boundsOf(placed: readonly Placed[]): Rect {
  const outer = placed.filter(({ parent }) => parent === undefined);
  const right = outer.reduce((most, { x, width }) => Math.max(most, x + width), 0);
  const bottom = outer.reduce((most, { y, height }) => Math.max(most, y + height), 0);
  return { x: 0, y: 0, width: right, height: bottom };
}

function Drawn({
  nodes,
  edges,
  onSelect,
}: {
  nodes: RunNode[];
  edges: Edge[];
  onSelect(node: string): void;
}): JSX.Element {
  return (
    <ReactFlow
      className="run-graph"
      aria-label={texts.run.graph}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodesChange={(changes) => {
        for (const change of changes) if (change.type === "select" && change.selected) onSelect(change.id);
      }}
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
  );
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

/** A node that did not change keeps its object, so that it is not drawn again. */
function useNodes(
  model: RunModel,
  placed: readonly Placed[] | undefined,
  opened: ReadonlySet<string>,
  selected: string | undefined,
  toggle: (id: string) => void,
): RunNode[] {
  const byId = useMemo(() => definitionsOf(model.graph), [model.graph]);
  const before = useRef<ReadonlyMap<string, RunNode>>(new Map());
  return useMemo(() => {
    const nodes = (placed ?? []).flatMap((place): RunNode[] => {
      const node = byId.get(place.id);
      if (!node) return [];
      const canOpen = node.body !== undefined || (node.type === "workflow" && model.nodes.has(place.id));
      const [state, counts] = [model.nodes.get(place.id), model.maps.get(place.id)];
      const data = { node, state, counts, isOpen: opened.has(place.id) && node.body !== undefined, canOpen, toggle };
      const made = flowNode(place, data, place.id === selected);
      const known = before.current.get(place.id);
      return [known && looksSame(known, made) ? known : made];
    });
    before.current = new Map(nodes.map((node) => [node.id, node]));
    return nodes;
  }, [placed, byId, opened, selected, toggle, model]);
}

function flowNode({ id, x, y, width, height, parent }: Placed, data: RunNodeData, selected: boolean): RunNode {
  return {
    ...{ id, type: "run", position: { x, y }, width, height, data, selected },
    ...(parent !== undefined && { parentId: parent }),
    zIndex: parent === undefined ? 0 : 1,
    ariaLabel: data.node.name,
  };
}

/** As far as a card shows it. */
function looksSame(a: RunNode, b: RunNode): boolean {
  const shown = ({ position, width, height, parentId, selected, data: { state, counts, isOpen, canOpen } }: RunNode) =>
    JSON.stringify([
      ...[position, width, height, parentId, selected, isOpen, canOpen, counts],
      ...[state?.state, state?.counts, state?.ms, state?.visits.at(-1)?.work?.waits_for?.kind],
    ]);
  return a.data.toggle === b.data.toggle && shown(a) === shown(b);
}

function definitionsOf(graph: Graph): Map<string, Graph["nodes"][number]> {
  return new Map(
    graph.nodes.flatMap((node) => [[node.id, node] as const, ...(node.body ? definitionsOf(node.body) : [])]),
  );
}

function edgesOf(model: RunModel, opened: ReadonlySet<string>): Edge[] {
  const of = ({ nodes, edges }: Graph): Edge[] => [
    ...edges.map(({ from, to, label, max, isOnError }, index): Edge => {
      const count = model.taken.get(edgeKey(from, to)) ?? 0;
      const isLive = count > 0 && isAtWork(model, to);
      const state = count === 0 ? "idle" : isLive ? "live" : "taken";
      const times = max === undefined ? "" : `${count}/${max}`;
      return {
        ...{ id: `${from}>${to}>${index}`, source: from, target: to, type: "smoothstep" },
        className: `edge edge-${state} ${isOnError ? "edge-error" : ""}`,
        label: [label, times].filter((part) => part !== "").join("  "),
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: `var(--edge-${state})` },
        pathOptions: { borderRadius: 10 },
        zIndex: count > 0 ? 1 : 0,
      } as Edge;
    }),
    ...nodes.flatMap(({ id, body }) => (body && opened.has(id) ? of(body) : [])),
  ];
  return of(model.graph);
}

function isAtWork(model: RunModel, node: string): boolean {
  const state = model.nodes.get(node)?.state;
  return state === "running" || state === "waiting" || state === "next";
}
