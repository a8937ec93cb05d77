import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo, useCallback } from "react";
import type { GraphEdge, GraphNode } from "../../../parts/graph/definition.ts";
import { GraphView } from "../../../parts/graph/graph-view.tsx";
import { type CardData, NodeCard } from "../../../parts/graph/node-card.tsx";
import { Icon, type IconName } from "../../../parts/icon.tsx";
import { texts } from "../../../texts.ts";
import { kindOf, labelOf } from "../graph/definition-graph.tsx";
import { type Change, edgeName, type WorkflowDiff } from "./diff.ts";
import "./diff-graph.css";

const words = texts.workflows.versions;

interface DiffGraphProps {
  diff: WorkflowDiff;
  selected: string | undefined;
  onSelect(node: string): void;
}

export const changeLooks: Record<Change, { tone: string; icon: IconName | undefined }> = {
  added: { tone: "ok", icon: "plus" },
  removed: { tone: "bad", icon: "minus" },
  changed: { tone: "wait", icon: "change" },
  same: { tone: "idle", icon: undefined },
};

const nodeTypes = { card: memo(DiffCard) };

/** Both versions in one graph: what was added, taken away and changed. */
export function DiffGraph({ diff, selected, onSelect }: DiffGraphProps): JSX.Element {
  const dataOf = useCallback(({ id }: GraphNode) => ({ change: diff.nodes.get(id)?.change ?? "same" }), [diff]);
  const lookOf = useCallback(
    (edge: GraphEdge) => {
      const change = diff.edges.get(edgeName(edge)) ?? "same";
      return {
        state: change === "same" ? "idle" : change,
        label: labelOf(edge.label, edge.max),
        isAbove: change !== "same",
      };
    },
    [diff],
  );
  return <GraphView {...{ graph: diff.graph, label: words.graph, nodeTypes, dataOf, lookOf, selected, onSelect }} />;
}

interface DiffData extends CardData {
  change: Change;
}

function DiffCard({ data, selected }: NodeProps<Node<DiffData, "card">>): JSX.Element {
  const { change, ...card } = data;
  const { tone, icon } = changeLooks[change];
  const end = icon && (
    <span className="node-change">
      <Icon name={icon} size={14} />
    </span>
  );
  const note = change === "same" ? kindOf(card.node) : `${kindOf(card.node)} · ${words.changes[change]}`;
  return <NodeCard {...card} {...{ tone, selected, note, end }} state={change} />;
}
