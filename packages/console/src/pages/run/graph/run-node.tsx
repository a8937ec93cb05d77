import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { type JSX, memo } from "react";
import { Icon } from "../../../parts/icon.tsx";
import { durationText } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import type { GraphNode } from "../model/definition.ts";
import type { MapCounts } from "../model/run-model.ts";
import type { NodeState } from "../model/visits.ts";
import { kindIcon, looks } from "./state-look.ts";

export interface RunNodeData extends Record<string, unknown> {
  node: GraphNode;
  state: NodeState | undefined;
  counts: MapCounts | undefined;
  isOpen: boolean;
  canOpen: boolean;
  toggle(id: string): void;
}

export type RunNode = Node<RunNodeData, "run">;

/** A node of the graph with what happened at it. */
export const RunNodeCard = memo(function RunNodeCard({ data, selected }: NodeProps<RunNode>): JSX.Element {
  const { node, state, counts, isOpen, canOpen, toggle } = data;
  const { tone, icon, says } = looks[state?.state ?? "idle"];
  return (
    <div
      className={`node tone-${tone} ${isOpen ? "node-open" : ""}`}
      data-state={state?.state ?? "idle"}
      data-selected={selected || undefined}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <div className="node-head">
        <span className="node-kind">
          <Icon name={kindIcon(node.type, node.isPrompt)} size={14} />
        </span>
        <span className="node-text">
          <b title={node.description}>{node.name}</b>
          <span className="node-note">{noteOf(node, state, counts)}</span>
        </span>
        <span className="node-state" role="img" aria-label={says}>
          {icon ? <Icon name={icon} size={14} /> : <span className="node-dot" />}
        </span>
        {canOpen && (
          <button
            type="button"
            className="node-fold nodrag"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? texts.run.fold : texts.run.unfold} ${node.name}`}
            onClick={(event) => {
              event.stopPropagation();
              toggle(node.id);
            }}
          >
            <Icon name={isOpen ? "minus" : "plus"} size={12} />
          </button>
        )}
      </div>
      {counts && <Progress counts={counts} />}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
});

function noteOf(node: GraphNode, state: NodeState | undefined, counts: MapCounts | undefined): string {
  if (counts)
    return texts.run.items(counts.items) + (counts.failed > 0 ? `, ${texts.run.failedCount(counts.failed)}` : "");
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
