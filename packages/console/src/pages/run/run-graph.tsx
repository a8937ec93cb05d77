import { formatDuration } from "@nova/client";
import { ControlButton } from "@xyflow/react";
import { useCallback, useMemo, useState } from "react";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type CardLook, type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { texts } from "../../texts.ts";
import { edgeKey, type MapCounts, type NodeState, type RunModel } from "./run-model.ts";
import { findFold } from "./timeline-lines.ts";

const words = texts.run;

interface RunGraphProps {
  model: RunModel;
  /** Ids of unfolded maps and child runs. */
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  selected: string | undefined;
  onSelect(node: string): void;
  /** The visible part of the graph, as the address contains it. */
  view: string | undefined;
  onView(view: string | undefined): void;
}

export function RunGraph({ model, opened, toggle, selected, onSelect, view, onView }: RunGraphProps) {
  const [follows, setFollows] = useState(false);
  const atWork = model.visits.findLast(({ state }) => state === "running" || state === "waiting");
  // The nodes inside a folded map have no card, so the graph follows the map.
  const fold = atWork && findFold(atWork);
  const followed = fold === undefined || opened.has(fold) ? atWork?.node : fold;
  const follow = () => setFollows((before) => !before);
  useKeys({ f: { label: words.follow, run: follow } });
  const describeCard = useCallback(
    (node: GraphNode): CardLook => {
      const [found, counts] = [model.nodes.get(node.id), model.maps.get(node.id)];
      const state = found?.state ?? "idle";
      const { tone, icon, label } = lookOfState(state, model.isOpen);
      return {
        tone,
        state,
        note: describeState(node, found, counts),
        mark: { icon, label },
        shares: shareItems(counts),
      };
    },
    [model],
  );
  const lookOf = useCallback((edge: GraphEdge) => styleEdge(model, edge), [model]);
  // Only a node that started a child run can be unfolded. The page reads the child run when the user unfolds the node.
  const canOpen = useCallback(({ id, type }: GraphNode) => type === "workflow" && model.nodes.has(id), [model]);
  const folding = useMemo(() => ({ opened, toggle, canOpen }), [opened, toggle, canOpen]);
  const { graph } = model;
  return (
    <GraphView
      graph={graph}
      label={texts.run.graph}
      describeCard={describeCard}
      lookOf={lookOf}
      selected={selected}
      onSelect={onSelect}
      folding={folding}
      view={view}
      onView={onView}
      followed={follows ? followed : undefined}
    >
      {model.isOpen && (
        <ControlButton aria-label={words.follow} title={words.follow} aria-pressed={follows} onClick={follow}>
          <Icon name="play" />
        </ControlButton>
      )}
    </GraphView>
  );
}

function styleEdge(model: RunModel, { from, to, label, max }: GraphEdge): EdgeLook {
  const count = model.taken.get(edgeKey(from, to)) ?? 0;
  const isLive = count > 0 && ["running", "waiting", "next"].includes(model.nodes.get(to)?.state ?? "idle");
  const times = max === undefined ? "" : `${count}/${max}`;
  return {
    state: count === 0 ? "idle" : isLive ? "live" : "taken",
    label: [label, times].filter((part) => part !== "").join("  "),
    isAbove: count > 0,
  };
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

function shareItems(counts: MapCounts | undefined): CardLook["shares"] {
  if (!counts || counts.items === 0) return undefined;
  const { items, done, failed } = counts;
  return [
    ["bad", failed / items],
    ["ok", (done - failed) / items],
  ];
}

export const stateLooks: Record<NodeState["state"], { tone: string; icon: IconName | undefined; label: string }> = {
  success: { tone: "ok", icon: "check", label: texts.status.completed },
  failed: { tone: "bad", icon: "cross", label: texts.status.failed },
  cancelled: { tone: "stop", icon: "stop", label: texts.status.cancelled },
  running: { tone: "run", icon: undefined, label: texts.status.running },
  waiting: { tone: "wait", icon: "pause", label: texts.status.waiting },
  next: { tone: "run", icon: "clock", label: texts.run.starting },
  idle: { tone: "idle", icon: undefined, label: texts.run.notRun },
};

/**
 * Returns the icon, the colour and the label of a node's state. If an open run may still reach the node, the label says
 * that the run has not reached the node yet.
 */
export function lookOfState(state: NodeState["state"], mayRun: boolean) {
  const look = stateLooks[state];
  return state === "idle" && mayRun ? { ...look, label: texts.run.notReached } : look;
}
