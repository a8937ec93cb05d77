import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo, useCallback } from "react";
import type { Graph, GraphEdge, GraphNode } from "../../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../../parts/graph/graph-view.tsx";
import { type CardData, NodeCard } from "../../../parts/graph/node-card.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { texts } from "../../../texts.ts";
import type { Finding } from "./findings.ts";
import "./definition-graph.css";

const words = texts.workflows.graph;

interface DefinitionGraphProps {
  graph: Graph;
  findings: ReadonlyMap<string, readonly Finding[]>;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { card: memo(DefinitionCard) };

/** The graph of a definition, with its findings at their nodes. */
export function DefinitionGraph({ graph, findings, selected, onSelect }: DefinitionGraphProps): JSX.Element {
  const dataOf = useCallback(({ id }: GraphNode) => ({ findings: findings.get(id) }), [findings]);
  return <GraphView {...{ graph, label: words.label, nodeTypes, dataOf, lookOf, selected, onSelect }} />;
}

function lookOf({ label, max }: GraphEdge): EdgeLook {
  return { state: "idle", label: labelOf(label, max), isAbove: false };
}

export function labelOf(label: string, max: number | undefined): string {
  return [label, max === undefined ? "" : words.max(max)].filter((part) => part !== "").join(", ");
}

/** What kind of node it is, in words. */
export function kindOf({ type, isPrompt }: GraphNode): string {
  const kind = type in words.kinds ? words.kinds[type as keyof typeof words.kinds] : type;
  return isPrompt ? `${kind} · ${words.prompt}` : kind;
}

interface DefinitionData extends CardData {
  findings: readonly Finding[] | undefined;
}

function DefinitionCard({ data, selected }: NodeProps<Node<DefinitionData, "card">>): JSX.Element {
  const { findings = [], ...card } = data;
  const isBad = findings.some(({ severity }) => severity === "error");
  const state = findings.length === 0 ? "plain" : isBad ? "bad" : "warned";
  const end = findings.length > 0 && (
    <span className={`node-findings tone-${isBad ? "bad" : "wait"}`} title={words.findings(findings.length)}>
      <Icon name="warning" size={12} />
      {findings.length}
      <span className="hidden-label">{words.findings(findings.length)}</span>
    </span>
  );
  return <NodeCard {...card} tone={toneOf(card.node)} {...{ state, selected, end }} note={kindOf(card.node)} />;
}

export function toneOf({ type, isPrompt }: GraphNode): string {
  if (isPrompt) return "accent";
  if (type === "approval" || type === "wait") return "wait";
  return type === "decision" || type === "map" || type === "workflow" ? "run" : "idle";
}
