import type { WholeExecution } from "@nova/client";
import { type CSSProperties, useCallback, useMemo, useState } from "react";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type CardLook, type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { useVisibleRows } from "../../parts/table.tsx";
import { formatDuration, useNow } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { edgeKey, type MapCounts, type NodeState, type RunModel, type Visit } from "./run-model.ts";
import { buildLines, buildScale, type Line, type Part, type Scale, type Span } from "./timeline-lines.ts";

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
  // Only a node that started a child run can be unfolded; the child run is read when the user unfolds it.
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
    <span className="node-state center" role="img" aria-label={label}>
      {icon ? <Icon name={icon} size={14} /> : <span className="dot" />}
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
    <span className="node-progress share-bar">
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

interface TimelineProps {
  run: WholeExecution;
  model: RunModel;
  selected: string | undefined;
  onSelect(visit: Visit): void;
}

const lineHeight = 28;
const parts: readonly Part[] = ["queue", "sandbox", "model", "code", "waiting"];

/** The duration of each visit, one per line. Idle time is shortened. */
export function Timeline(props: TimelineProps) {
  return props.run.ended_at === null ? (
    <OpenTimeline {...props} />
  ) : (
    <TimelineAt {...props} nowMs={Date.parse(props.run.ended_at)} />
  );
}

function OpenTimeline(props: TimelineProps) {
  return <TimelineAt {...props} nowMs={useNow()} />;
}

function TimelineAt({ run, model, selected, onSelect, nowMs }: TimelineProps & { nowMs: number }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (fold: string) => setOpened((before) => before.symmetricDifference(new Set([fold])));
  const lines = useMemo(() => buildLines(model.visits, opened, nowMs), [model, opened, nowMs]);
  const scale = useMemo(() => createScale(run, lines, nowMs), [run, lines, nowMs]);
  const { scroller, visible, height } = useVisibleRows<HTMLDivElement>(lines.length, lineHeight);
  return (
    <section className="pane" aria-label={texts.run.timeline}>
      <Legend lines={lines} />
      <div ref={scroller} className="timeline-rows">
        <div style={{ height }} className="virtual">
          {visible.map(({ index, start }) => {
            const line = lines[index] as Line;
            const act = () => (line.visit ? onSelect(line.visit) : toggle(line.key));
            const isSelected = line.visit !== undefined && line.key === selected;
            return <Row key={line.key} line={line} scale={scale} isSelected={isSelected} act={act} top={start} />;
          })}
        </div>
      </div>
    </section>
  );
}

/** Builds the scale. Waiting counts as idle. */
function createScale({ started_at }: WholeExecution, lines: readonly Line[], nowMs: number): Scale {
  const busy: Span[] = lines.flatMap(({ segments }) => segments.filter(({ part }) => part !== "waiting"));
  const from = Date.parse(started_at);
  return buildScale({ from, to: Math.max(from + 1, nowMs) }, busy);
}

function Legend({ lines }: { lines: readonly Line[] }) {
  const sums = new Map<Part, number>();
  for (const { part, from, to } of lines.flatMap(({ segments }) => segments)) {
    sums.set(part, (sums.get(part) ?? 0) + to - from);
  }
  return (
    <div className="timeline-head line small">
      <h2>{texts.run.timeline}</h2>
      {parts.map((part) =>
        sums.has(part) ? (
          <span key={part} className={`legend-key part-${part}`}>
            {texts.run.parts[part]} <b>{formatDuration(sums.get(part) ?? 0)}</b>
          </span>
        ) : null,
      )}
    </div>
  );
}

interface RowProps {
  line: Line;
  top: number;
  scale: Scale;
  isSelected: boolean;
  act(): void;
}

function Row({ line, top, scale, isSelected, act }: RowProps) {
  const { segments, visit, fold } = line;
  const [first, last] = [segments[0], segments.at(-1)];
  const took = first && last ? last.to - first.from : 0;
  return (
    <button
      type="button"
      className={`timeline-row pick tone-${stateLooks[line.state].tone}`}
      {...(visit ? { "aria-pressed": isSelected } : { "aria-expanded": fold?.isOpen })}
      style={{ transform: `translateY(${top}px)` }}
      onClick={act}
    >
      <span className="timeline-name ellipsis" data-inside={line.isInside || undefined}>
        {fold ? <Icon name={fold.isOpen ? "down" : "right"} size={12} /> : <i className="dot" />}
        {line.name}
        {line.note !== "" && <span className="quiet"> {line.note}</span>}
      </span>
      <span className="timeline-track">
        {scale.gaps.map((gap) => (
          <i
            key={gap.from}
            className="timeline-gap hatched"
            style={{ left: formatPercent(gap.at), width: formatPercent(gap.width) }}
          />
        ))}
        {segments.map(({ part, from, to }) => (
          <i
            key={`${part}${from}`}
            className={`timeline-bar part-${part}`}
            title={`${texts.run.parts[part]} ${formatDuration(to - from)}`}
            style={{
              left: formatPercent(scale.at(from)),
              width: `max(2px, ${formatPercent(scale.at(to) - scale.at(from))})`,
            }}
          />
        ))}
        {first && last && (
          <span className="timeline-took" style={positionDuration(scale.at(first.from), scale.at(last.to))}>
            {formatDuration(took)}
          </span>
        )}
      </span>
    </button>
  );
}

function formatPercent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** Places the duration after the bar, or before the bar if there is no space after it. */
function positionDuration(begin: number, end: number): CSSProperties {
  if (end < 0.88) return { left: `calc(${formatPercent(end)} + 6px)` };
  return begin > 0.12
    ? { right: `calc(${formatPercent(1 - begin)} + 6px)` }
    : { right: 4, background: "var(--surface)" };
}
