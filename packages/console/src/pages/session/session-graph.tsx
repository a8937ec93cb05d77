import type { Session } from "@nova/client";
import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo, useCallback, useMemo } from "react";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { type CardData, NodeCard } from "../../parts/graph/node-card.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Foreign } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { draftGraph, firstLine, type State, stateOf } from "./draft.ts";
import type { OutputText } from "./use-session.ts";
import "./session-page.css";

const words = texts.sessions;
/** Of one with an output, and of one that comes to nothing. */
const [stepHeight, bareHeight] = [74, 50];
const nodeTypes = { card: memo(SessionCard) };

export const looks: Record<State, { tone: string; icon: IconName }> = {
  fresh: { tone: "ok", icon: "check" },
  stale: { tone: "wait", icon: "clock" },
  skipped: { tone: "idle", icon: "minus" },
};

interface Standing {
  version?: number;
  state?: State;
  line?: string;
  isBad?: boolean;
}

interface SessionGraphProps {
  session: Session;
  /** Undefined: they are not known yet. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  selected: string | undefined;
  onSelect(node: string): void;
}

/** The draft: each node with its version, how it stands, and the beginning of its output. */
export function SessionGraph({ session, outputs, selected, onSelect }: SessionGraphProps): JSX.Element {
  const { nodes, edges } = session;
  const graph = useMemo(() => draftGraph({ nodes, edges }), [nodes, edges]);
  const dataOf = useCallback(
    ({ id }: GraphNode): Standing => {
      const node = nodes.find(({ node_id }) => node_id === id);
      if (!node) return {};
      const { text, error = null } = outputs?.get(id) ?? {};
      const line = error ?? (text !== undefined ? firstLine(text) : outputs ? words.noOutput : "…");
      return { version: node.version, state: stateOf(node), line, isBad: error !== null };
    },
    [nodes, outputs],
  );
  const label = words.graph;
  return <GraphView {...{ graph, label, nodeTypes, dataOf, lookOf, selected, onSelect }} heightOf={heightOf} />;
}

function heightOf({ type }: GraphNode): number {
  return type === "start" || type === "end" ? bareHeight : stepHeight;
}

function lookOf({ label }: GraphEdge): EdgeLook {
  return { state: "idle", label, isAbove: false };
}

function SessionCard({ data, selected }: NodeProps<Node<Standing & CardData, "card">>): JSX.Element {
  const { version, state, line, isBad, ...card } = data;
  if (state === undefined || version === undefined) {
    return <NodeCard {...card} tone="idle" state="plain" selected={selected} note={card.node.type} end={null} />;
  }
  const { tone, icon } = looks[state];
  const end = (
    <span className={`node-state tone-${tone}`}>
      <Icon name={icon} size={14} />
    </span>
  );
  const note = `${words.version(version)} · ${words.states[state]}`;
  return (
    <NodeCard {...card} {...{ tone, state, selected, note, end }}>
      <p className={`node-line ${isBad ? "node-line-bad" : ""}`}>
        <Foreign text={line ?? ""} />
      </p>
    </NodeCard>
  );
}
