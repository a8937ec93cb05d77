import type { Session } from "@nova/client";
import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo, useCallback, useMemo } from "react";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { type CardData, NodeCard } from "../../parts/graph/node-card.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildDraftGraph, classifyNode, type NodeFreshness, summarizeOutput } from "./draft.ts";
import type { OutputText } from "./use-session.ts";
import "./session-page.css";

const words = texts.sessions;
/** Height of a card with an output, and without. */
const [stepHeight, bareHeight] = [74, 50];
const nodeTypes = { card: memo(SessionCard) };

export const freshnessLooks: Record<NodeFreshness, { tone: string; icon: IconName }> = {
  fresh: { tone: "ok", icon: "check" },
  stale: { tone: "wait", icon: "clock" },
  skipped: { tone: "idle", icon: "minus" },
};

interface SessionCardData {
  version?: number;
  state?: NodeFreshness;
  line?: string;
  isBad?: boolean;
}

interface SessionGraphProps {
  session: Session;
  /** Undefined while they load. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  selected: string | undefined;
  onSelect(node: string): void;
}

/** The graph of the draft: each node with version, freshness and the start of its output. */
export function SessionGraph({ session, outputs, selected, onSelect }: SessionGraphProps): JSX.Element {
  const { nodes, edges } = session;
  const graph = useMemo(() => buildDraftGraph({ nodes, edges }), [nodes, edges]);
  const dataOf = useCallback(
    ({ id }: GraphNode): SessionCardData => {
      const node = nodes.find(({ node_id }) => node_id === id);
      if (!node) return {};
      const { text, error = null } = outputs?.get(id) ?? {};
      const line = error ?? (text !== undefined ? summarizeOutput(text) : outputs ? words.noOutput : "…");
      return { version: node.version, state: classifyNode(node), line, isBad: error !== null };
    },
    [nodes, outputs],
  );
  const label = words.graph;
  return (
    <GraphView
      graph={graph}
      label={label}
      nodeTypes={nodeTypes}
      dataOf={dataOf}
      lookOf={styleEdge}
      selected={selected}
      onSelect={onSelect}
      getHeight={getHeight}
    />
  );
}

function getHeight({ type }: GraphNode): number {
  return type === "start" || type === "end" ? bareHeight : stepHeight;
}

function styleEdge({ label }: GraphEdge): EdgeLook {
  return { state: "idle", label, isAbove: false };
}

function SessionCard({ data, selected }: NodeProps<Node<SessionCardData & CardData, "card">>): JSX.Element {
  const { version, state, line, isBad, ...card } = data;
  if (state === undefined || version === undefined) {
    return <NodeCard {...card} tone="idle" state="plain" selected={selected} note={card.node.type} end={null} />;
  }
  const { tone, icon } = freshnessLooks[state];
  const end = (
    <span className={`node-state tone-${tone}`}>
      <Icon name={icon} size={14} />
    </span>
  );
  const note = `${words.version(version)} · ${words.states[state]}`;
  return (
    <NodeCard {...card} tone={tone} state={state} selected={selected} note={note} end={end}>
      <p className={`node-line ${isBad ? "node-line-bad" : ""}`}>
        <UntrustedText text={line ?? ""} />
      </p>
    </NodeCard>
  );
}
