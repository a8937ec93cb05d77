import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo } from "react";
import type { GraphNode } from "../../../parts/graph/definition.ts";
import { type CardData, NodeCard } from "../../../parts/graph/node-card.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { durationText } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import type { MapCounts } from "../model/run-model.ts";
import type { NodeState } from "../model/visits.ts";
import { looks } from "./state-look.ts";

/** What happened at a node, as its card shows it. */
export interface RunCardData {
  state: NodeState["state"];
  note: string;
  counts: MapCounts | undefined;
}

type RunNode = Node<RunCardData & CardData, "card">;

/** A node of the graph with what happened at it. */
export const RunNodeCard = memo(function RunNodeCard({ data, selected }: NodeProps<RunNode>): JSX.Element {
  const { state, note, counts, ...card } = data;
  const { tone, icon, says } = looks[state];
  const end = (
    <span className="node-state" role="img" aria-label={says}>
      {icon ? <Icon name={icon} size={14} /> : <span className="node-dot" />}
    </span>
  );
  return (
    <NodeCard {...card} {...{ tone, state, selected, end, note }}>
      {counts && <Progress counts={counts} />}
    </NodeCard>
  );
});

export function shownOf(node: GraphNode, state: NodeState | undefined, counts: MapCounts | undefined): RunCardData {
  return { state: state?.state ?? "idle", note: noteOf(node, state, counts), counts };
}

function noteOf(node: GraphNode, state: NodeState | undefined, counts: MapCounts | undefined): string {
  if (counts) return texts.run.itemsBy(counts);
  if (!state) return node.type;
  const [work] = state.visits.flatMap(({ work }) => work?.waits_for ?? []);
  if (work) return texts.run.waitsFor[work.kind];
  if (state.state === "running" || state.state === "next") return looks[state.state].says;
  const visits = state.visits.length > 1 ? ` · ${texts.run.visits(state.visits.length)}` : "";
  const decided = state.visits.length === 1 ? state.visits[0]?.entry?.decision_result : null;
  if (state.isReused) return `${texts.run.reusedShort}${visits}`;
  return `${decided ? `${decided} · ` : ""}${state.ms > 0 ? durationText(state.ms) : node.type}${visits}`;
}

function Progress({ counts: { items, done, failed } }: { counts: MapCounts }): JSX.Element {
  const share = (count: number) => `${items === 0 ? 0 : (count / items) * 100}%`;
  return (
    <span className="node-progress">
      <span className="tone-bad" style={{ width: share(failed) }} />
      <span className="tone-ok" style={{ width: share(done - failed) }} />
    </span>
  );
}
