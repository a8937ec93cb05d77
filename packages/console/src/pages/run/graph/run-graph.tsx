import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  MarkerType,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { type JSX, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Loading } from "../../../parts/states.tsx";
import { texts } from "../../../texts.ts";
import type { Graph } from "../model/definition.ts";
import { edgeKey, type RunModel } from "../model/run-model.ts";
import type { LayoutRequest, Placed } from "./layout-types.ts";
import { type RunNode, RunNodeCard } from "./run-node.tsx";
import { useLayout } from "./use-layout.ts";
import "@xyflow/react/dist/base.css";
import "./run-graph.css";

interface RunGraphProps {
  model: RunModel;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { run: RunNodeCard };
const size = { width: 204, height: 50 };
const mapHeight = 58;

/** The graph of a run, which lights up as it goes on. */
export function RunGraph(props: RunGraphProps): JSX.Element {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ model, selected, onSelect }: RunGraphProps): JSX.Element {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setOpened((before) => before.symmetricDifference(new Set([id]))), []);
  const request = useMemo(() => requestOf(model.graph, opened), [model.graph, opened]);
  const placed = useLayout(request);
  const nodes = useNodes(model, placed, opened, selected, toggle);
  const edges = useMemo(() => edgesOf(model, opened), [model, opened]);
  const { fitView } = useReactFlow();
  const isFitted = useRef(false);
  useEffect(() => {
    if (!placed) return;
    const animated = isFitted.current ? { duration: 200 } : {};
    isFitted.current = true;
    requestAnimationFrame(() => void fitView({ padding: 0.12, maxZoom: 1, ...animated }));
  }, [placed, fitView]);
  if (!placed) return <Loading lines={5} />;
  return (
    <ReactFlow
      className="run-graph"
      aria-label={texts.run.graph}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodeClick={(_, node) => onSelect(node.id)}
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
  return useMemo(() => {
    return (placed ?? []).flatMap(({ id, x, y, width, height, parent }): RunNode[] => {
      const node = byId.get(id);
      if (!node) return [];
      const isOpen = opened.has(id) && node.body !== undefined;
      const data = {
        node,
        state: model.nodes.get(id),
        counts: model.maps.get(id),
        isOpen,
        canOpen: node.body !== undefined,
        toggle,
      };
      return [
        {
          ...{ id, type: "run", position: { x, y }, width, height, data, selected: id === selected },
          ...(parent !== undefined && { parentId: parent }),
          zIndex: parent === undefined ? 0 : 1,
          ariaLabel: node.name,
        },
      ];
    });
  }, [placed, byId, opened, selected, toggle, model]);
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
