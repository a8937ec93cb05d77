import { useCallback, useMemo } from "react";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import type { CardLook } from "../../parts/graph/node-card.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { formatDuration } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { edgeKey, type MapCounts, type NodeState, type RunModel } from "./run-model.ts";
import "./run-graph.css";

interface RunGraphProps {
  model: RunModel;
  /** Ids of unfolded maps and child runs. */
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  selected: string | undefined;
  onSelect(node: string): void;
}

export function RunGraph({ model, opened, toggle, selected, onSelect }: RunGraphProps) {
  const dataOf = useCallback(
    (node: GraphNode): RunCardData => {
      const [state, counts] = [model.nodes.get(node.id), model.maps.get(node.id)];
      return { state: state?.state ?? "idle", note: describeState(node, state, counts), counts };
    },
    [model],
  );
  const lookOf = useCallback((edge: GraphEdge) => styleEdge(model, edge), [model]);
  // A child run is read when its node is unfolded.
  const canOpen = useCallback(({ id, type }: GraphNode) => type === "workflow" && model.nodes.has(id), [model]);
  const folding = useMemo(() => ({ opened, toggle, canOpen }), [opened, toggle, canOpen]);
  const { graph } = model;
  return (
    <GraphView
      graph={graph}
      label={texts.run.graph}
      showCard={showCard}
      dataOf={dataOf}
      lookOf={lookOf}
      selected={selected}
      onSelect={onSelect}
      folding={folding}
    />
  );
}

function styleEdge(model: RunModel, { from, to, label, max }: GraphEdge): EdgeLook {
  const count = model.taken.get(edgeKey(from, to)) ?? 0;
  const isLive = count > 0 && isOpenNode(model, to);
  const times = max === undefined ? "" : `${count}/${max}`;
  return {
    state: count === 0 ? "idle" : isLive ? "live" : "taken",
    label: [label, times].filter((part) => part !== "").join("  "),
    isAbove: count > 0,
  };
}

function isOpenNode(model: RunModel, node: string): boolean {
  const state = model.nodes.get(node)?.state;
  return state === "running" || state === "waiting" || state === "next";
}

interface RunCardData {
  state: NodeState["state"];
  note: string;
  counts: MapCounts | undefined;
}

function showCard({ state, note, counts }: RunCardData): CardLook {
  const { tone, icon, label } = stateLooks[state];
  const end = (
    <span className="node-state" role="img" aria-label={label}>
      {icon ? <Icon name={icon} size={14} /> : <span className="node-dot" />}
    </span>
  );
  return { tone, state, note, end, children: counts && <Progress counts={counts} /> };
}

function describeState(node: GraphNode, state: NodeState | undefined, counts: MapCounts | undefined): string {
  if (counts) return texts.run.itemsBy(counts);
  if (!state) return node.type;
  const [work] = state.visits.flatMap(({ work }) => work?.waits_for ?? []);
  if (work) return texts.run.waitsFor[work.kind];
  if (state.state === "running" || state.state === "next") return stateLooks[state.state].label;
  const visits = state.visits.length > 1 ? ` · ${texts.run.visits(state.visits.length)}` : "";
  const decided = state.visits.length === 1 ? state.visits[0]?.entry?.decision_result : null;
  if (state.isReused) return `${texts.run.reusedShort}${visits}`;
  return `${decided ? `${decided} · ` : ""}${state.ms > 0 ? formatDuration(state.ms) : node.type}${visits}`;
}

function Progress({ counts: { items, done, failed } }: { counts: MapCounts }) {
  const share = (count: number) => `${items === 0 ? 0 : (count / items) * 100}%`;
  return (
    <span className="node-progress">
      <span className="tone-bad" style={{ width: share(failed) }} />
      <span className="tone-ok" style={{ width: share(done - failed) }} />
    </span>
  );
}

export const stateLooks: Record<NodeState["state"], { tone: string; icon: IconName | undefined; label: string }> = {
  success: { tone: "ok", icon: "check", label: texts.status.completed },
  failed: { tone: "bad", icon: "cross", label: texts.status.failed },
  running: { tone: "run", icon: undefined, label: texts.status.running },
  waiting: { tone: "wait", icon: "pause", label: texts.status.waiting },
  next: { tone: "run", icon: "clock", label: texts.run.starting },
  idle: { tone: "idle", icon: undefined, label: texts.run.notRun },
};
