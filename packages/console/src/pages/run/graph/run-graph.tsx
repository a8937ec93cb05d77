import { type JSX, useCallback } from "react";
import type { GraphEdge, GraphNode } from "../../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../../parts/graph/graph-view.tsx";
import { texts } from "../../../texts.ts";
import { edgeKey, type RunModel } from "../model/run-model.ts";
import { RunNodeCard } from "./run-node.tsx";
import "./run-graph.css";

interface RunGraphProps {
  model: RunModel;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { card: RunNodeCard };

/** The graph of a run, which lights up as it goes on. */
export function RunGraph({ model, selected, onSelect }: RunGraphProps): JSX.Element {
  const dataOf = useCallback(
    ({ id }: GraphNode) => ({ state: model.nodes.get(id), counts: model.maps.get(id) }),
    [model],
  );
  const lookOf = useCallback((edge: GraphEdge) => lookIn(model, edge), [model]);
  return (
    <GraphView {...{ graph: model.graph, label: texts.run.graph, nodeTypes, dataOf, lookOf, selected, onSelect }} />
  );
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
