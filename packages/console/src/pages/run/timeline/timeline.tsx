import type { WholeExecution } from "@nova/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, useMemo, useRef } from "react";
import { durationText, useNow } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import { looks } from "../graph/state-look.ts";
import type { RunModel } from "../model/run-model.ts";
import { itemOf, type Visit } from "../model/visits.ts";
import { type Scale, type Span, scaleOf } from "./scale.ts";
import { type Part, type Segment, segmentsOf } from "./segments.ts";
import "./timeline.css";

interface TimelineProps {
  run: WholeExecution;
  model: RunModel;
  selected: string | undefined;
  onSelect(visit: Visit): void;
}

interface Line {
  visit: Visit;
  segments: readonly Segment[];
}

const lineHeight = 28;
const parts: readonly Part[] = ["queue", "sandbox", "model", "code", "waiting"];

/** What took how long, one line a visit. Time in which nothing ran is drawn short. */
export function Timeline(props: TimelineProps): JSX.Element {
  return props.run.ended_at === null ? (
    <Growing {...props} />
  ) : (
    <Still {...props} nowMs={Date.parse(props.run.ended_at)} />
  );
}

function Growing(props: TimelineProps): JSX.Element {
  return <Still {...props} nowMs={useNow()} />;
}

function Still({ run, model, selected, onSelect, nowMs }: TimelineProps & { nowMs: number }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => linesOf(model.visits, nowMs), [model, nowMs]);
  const scale = useMemo(() => scaleFor(run, lines, nowMs), [run, lines, nowMs]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 8,
  });
  return (
    <section className="timeline" aria-label={texts.run.timeline}>
      <Legend lines={lines} />
      <div ref={scroller} className="timeline-rows">
        <div style={{ height: rows.getTotalSize() }} className="timeline-all">
          {rows.getVirtualItems().map(({ index, start }) => {
            const line = lines[index] as Line;
            const { key } = line.visit;
            return (
              <Row key={key} line={line} top={start} scale={scale} isSelected={key === selected} onSelect={onSelect} />
            );
          })}
        </div>
      </div>
    </section>
  );
}

function linesOf(visits: readonly Visit[], nowMs: number): Line[] {
  return visits
    .filter(({ entry }) => entry?.node_type !== "start" && entry?.node_type !== "end")
    .toSorted((a, b) => a.from - b.from)
    .map((visit) => ({ visit, segments: segmentsOf(visit, nowMs) }));
}

/** Waiting is what a line may be short of. */
function scaleFor({ started_at }: WholeExecution, lines: readonly Line[], nowMs: number): Scale {
  const busy: Span[] = lines.flatMap(({ segments }) => segments.filter(({ part }) => part !== "waiting"));
  const from = Date.parse(started_at);
  return scaleOf({ from, to: Math.max(from + 1, nowMs) }, busy);
}

function Legend({ lines }: { lines: readonly Line[] }): JSX.Element {
  const sums = new Map<Part, number>();
  for (const { part, from, to } of lines.flatMap(({ segments }) => segments)) {
    sums.set(part, (sums.get(part) ?? 0) + to - from);
  }
  return (
    <div className="timeline-head">
      <h2>{texts.run.timeline}</h2>
      {parts.map((part) =>
        sums.has(part) ? (
          <span key={part} className={`timeline-key part-${part}`}>
            {texts.run.parts[part]} <b>{durationText(sums.get(part) ?? 0)}</b>
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
  onSelect(visit: Visit): void;
}

function Row({ line: { visit, segments }, top, scale, isSelected, onSelect }: RowProps): JSX.Element {
  const item = itemOf(visit.scope);
  const [first, last] = [segments[0], segments.at(-1)];
  const took = first && last ? last.to - first.from : 0;
  const end = last ? scale.at(last.to) : 0;
  return (
    <button
      type="button"
      className={`timeline-row tone-${looks[visit.state].tone}`}
      aria-pressed={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(visit)}
    >
      <span className="timeline-name">
        <i className="timeline-dot" />
        {visit.node}
        {item !== undefined && <span className="quiet"> {item}</span>}
      </span>
      <span className="timeline-track">
        {scale.gaps.map((gap) => (
          <i
            key={gap.from}
            className="timeline-gap"
            style={{ left: `${gap.at * 100}%`, width: `${gap.width * 100}%` }}
          />
        ))}
        {segments.map(({ part, from, to }) => (
          <i
            key={`${part}${from}`}
            className={`timeline-bar part-${part}`}
            title={`${texts.run.parts[part]} ${durationText(to - from)}`}
            style={{ left: `${scale.at(from) * 100}%`, width: `max(2px, ${(scale.at(to) - scale.at(from)) * 100}%)` }}
          />
        ))}
        <span
          className="timeline-took"
          style={
            end < 0.88
              ? { left: `calc(${end * 100}% + 6px)` }
              : { right: `${(1 - (first ? scale.at(first.from) : 0)) * 100}%`, marginRight: 6 }
          }
        >
          {durationText(took)}
        </span>
      </span>
    </button>
  );
}
