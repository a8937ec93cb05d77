import { type JSX, useCallback, useMemo } from "react";
import type { GraphEdge, GraphNode } from "../../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../../parts/graph/graph-view.tsx";
import { texts } from "../../../texts.ts";
import { edgeKey, type RunModel } from "../model/run-model.ts";
import { type RunCardData, RunNodeCard, shownOf } from "./run-node.tsx";
import "./run-graph.css";

interface RunGraphProps {
  model: RunModel;
  /** Maps and runs that show what is inside of them. */
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { card: RunNodeCard };

/** The graph of a run, which lights up as it goes on. */
export function RunGraph({ model, opened, toggle, selected, onSelect }: RunGraphProps): JSX.Element {
  const dataOf = useCallback(
    (node: GraphNode): RunCardData => shownOf(node, model.nodes.get(node.id), model.maps.get(node.id)),
    [model],
  );
  const lookOf = useCallback((edge: GraphEdge) => lookIn(model, edge), [model]);
  // A run inside of it is read when it is opened.
  const canOpen = useCallback(({ id, type }: GraphNode) => type === "workflow" && model.nodes.has(id), [model]);
  const folding = useMemo(() => ({ opened, toggle, canOpen }), [opened, toggle, canOpen]);
  const { graph } = model;
  return <GraphView {...{ graph, label: texts.run.graph, nodeTypes, dataOf, lookOf, selected, onSelect, folding }} />;
}

function lookIn(model: RunModel, { from, to, label, max }: GraphEdge): EdgeLook {
  const count = model.taken.get(edgeKey(from, to)) ?? 0;
  const isLive = count > 0 && isAtWork(model, to);
  const times = max === undefined ? "" : `${count}/${max}`;
  return {
    state: count === 0 ? "idle" : isLive ? "live" : "taken",
    label: [label, times].filter((part) => part !== "").join("  "),
    isAbove: count > 0,
  };
}

function isAtWork(model: RunModel, node: string): boolean {
  const state = model.nodes.get(node)?.state;
  return state === "running" || state === "waiting" || state === "next";
}
