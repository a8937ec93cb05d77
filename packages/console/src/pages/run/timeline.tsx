import { formatDuration, type Times, timeClasses, type WholeExecution } from "@nova/client";
import { type CSSProperties, type PointerEvent, useMemo, useRef, useState } from "react";
import { IconButton } from "../../parts/button.tsx";
import { useAddress } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { useVisibleRows } from "../../parts/table.tsx";
import { formatClock, formatMoment, useNow } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { stateLooks } from "./run-graph.tsx";
import type { RunModel, Visit } from "./run-model.ts";
import * as periods from "./timeline-lines.ts";
import { buildLines, buildScale, type Line, type Part, type Scale, type Span } from "./timeline-lines.ts";

const words = texts.run.time;

interface TimelineProps {
  run: WholeExecution;
  model: RunModel;
  /** Ids of unfolded maps and child runs. */
  opened: ReadonlySet<string>;
  toggle(node: string): void;
  selected: string | undefined;
  onSelect(visit: Visit): void;
  onLogs(): void;
}

const lineHeight = 28;

/** Shows each visit as a line with a bar for its duration. Long idle times are drawn shorter. */
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

/**
 * Shows the timeline. The address contains the period and whether the critical path is shown, so that a copied address
 * shows the same lines.
 */
function TimelineAt({
  run,
  model,
  opened,
  toggle,
  selected,
  onSelect,
  onLogs,
  nowMs,
}: TimelineProps & { nowMs: number }) {
  const [address, change] = useAddress(["zoom", "path"]);
  const { critical } = model;
  const isCritical = address.path === "critical" && critical !== undefined;
  const from = Date.parse(run.started_at);
  const whole = useMemo(() => ({ from, to: Math.max(from + 1, nowMs) }), [from, nowMs]);
  const shown = useMemo(() => periods.parsePeriod(address.zoom, whole), [address.zoom, whole]);
  const all = useMemo(() => {
    const visits = isCritical ? model.visits.filter(({ key }) => critical.keys.has(key)) : model.visits;
    return buildLines(visits, opened, nowMs);
  }, [model, isCritical, critical, opened, nowMs]);
  const scale = useMemo(() => createScale(shown, all), [shown, all]);
  const lines = useMemo(() => all.filter(({ span }) => span.to >= shown.from && span.from <= shown.to), [all, shown]);
  const at = lines.findIndex(({ visit }) => visit !== undefined && visit.key === selected);
  const { scroller, visible, height } = useVisibleRows<HTMLDivElement>(lines.length, lineHeight, at);
  const zoom = (period: Span) => change({ zoom: periods.formatPeriod(period, whole) });
  return (
    <section className="pane" aria-label={texts.run.timeline}>
      <div className="timeline-head line small">
        <LowerTabs open="timeline" onOther={onLogs} />
        <Legend times={isCritical ? critical.times : model.times} />
        {critical && (
          <button
            type="button"
            className="badge tone-bad actions"
            aria-pressed={isCritical}
            title={words.criticalHint}
            onClick={() => change({ path: isCritical ? undefined : "critical" })}
          >
            {words.critical}
          </button>
        )}
      </div>
      <Axis scale={scale} shown={shown} whole={whole} onZoom={zoom} />
      <div ref={scroller} className="timeline-rows">
        <div style={{ height }} className="virtual">
          {visible.map(({ index, start }) => {
            const line = lines[index] as Line;
            const act = () => (line.visit ? onSelect(line.visit) : toggle(line.key));
            const isSelected = line.visit !== undefined && line.key === selected;
            const isLate = line.visit !== undefined && critical?.keys.has(line.key);
            return (
              <Row
                key={line.key}
                line={line}
                scale={scale}
                isSelected={isSelected}
                isCritical={isLate ?? false}
                act={act}
                top={start}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** The heading of the lower half of the page, which shows the timeline or the logs of all nodes. */
export function LowerTabs({ open, onOther }: { open: "timeline" | "logs"; onOther(): void }) {
  return (
    <>
      <h2>{texts.run[open]}</h2>
      <button type="button" className="badge tone-idle" onClick={onOther}>
        {texts.run[open === "logs" ? "timeline" : "logs"]}
      </button>
    </>
  );
}

/** Builds the time scale. Waiting counts as idle, unless a child run of the node is at work. */
function createScale(shown: Span, lines: readonly Line[]): Scale {
  const busy: Span[] = lines.flatMap(({ segments, visit }) =>
    segments.filter(({ part }) => part !== "waiting" || isChildRun(visit)),
  );
  return buildScale(shown, busy);
}

function isChildRun(visit: Visit | undefined): boolean {
  return visit?.entry?.node_type === "workflow" || visit?.work?.waits_for?.kind === "workflow";
}

/** Shows the recorded time of all nodes by class. These figures stay the same when the user unfolds nodes. */
function Legend({ times }: { times: Times }) {
  return timeClasses.map((name) =>
    times[`${name}_ms`] > 0 ? (
      <span key={name} className={`legend-key part-${name}`}>
        {texts.run.parts[name]} <b>{formatDuration(times[`${name}_ms`])}</b>
      </span>
    ) : null,
  );
}

interface AxisProps {
  scale: Scale;
  shown: Span;
  whole: Span;
  onZoom(period: Span): void;
}

/** The shortest drag that selects a period, as a share of the width. A shorter drag counts as a click. */
const leastDrag = 0.01;

/** Shows the time axis, on which the user chooses a period by mouse or by keyboard. */
function Axis({ scale, shown, whole, onZoom }: AxisProps) {
  const track = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const step = (by: number) => onZoom(periods.shiftPeriod(shown, whole, by));
  const widen = (factor: number) => onZoom(periods.scalePeriod(shown, whole, scale, factor));
  const actions = {
    "+": { label: words.zoomIn, run: () => widen(0.5) },
    "-": { label: words.zoomOut, run: () => widen(2) },
    "0": { label: words.whole, run: () => onZoom(whole) },
    "[": { label: words.earlier, run: () => step(-0.5) },
    "]": { label: words.later, run: () => step(0.5) },
  };
  useKeys(actions);
  const isZoomed = shown.from > whole.from || shown.to < whole.to;
  const shareOf = ({ clientX }: PointerEvent) => {
    const { left, width } = (track.current as HTMLDivElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const [begin = 0, end = 0] = drag ? [drag.from, drag.to].sort((a, b) => a - b) : [];
  return (
    <div className="timeline-row timeline-axis">
      <span className="row tight">
        <IconButton icon="minus" label={words.zoomOut} disabled={!isZoomed} onClick={actions["-"].run} />
        <IconButton icon="plus" label={words.zoomIn} onClick={actions["+"].run} />
        {isZoomed && <IconButton icon="fit" label={words.whole} onClick={actions["0"].run} />}
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons and the keys do the same */}
      <div
        ref={track}
        className="timeline-track"
        title={words.drag}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: shareOf(event), to: shareOf(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: shareOf(event) })}
        onPointerCancel={() => setDrag(undefined)}
        onPointerUp={() => {
          setDrag(undefined);
          if (end - begin >= leastDrag) onZoom({ from: scale.timeAt(begin), to: scale.timeAt(end) });
        }}
        onDoubleClick={actions["0"].run}
      >
        {periods.listTicks(shown, whole, scale).map((tick) => (
          <span key={tick.at} className="timeline-tick" style={{ left: formatPercent(tick.at) }}>
            {formatTick(tick, whole)}
          </span>
        ))}
        {drag && (
          <i className="timeline-brush" style={{ left: formatPercent(begin), width: formatPercent(end - begin) }} />
        )}
      </div>
    </div>
  );
}

/** Formats the time of a tick: the time since the start, or the time of day if the run took a minute or more. */
function formatTick({ time, step }: periods.Tick, whole: Span): string {
  if (whole.to - whole.from < periods.minute) return formatDuration(time - whole.from);
  return step < periods.second
    ? `${formatClock(time)}.${String(time % periods.second).padStart(3, "0")}`
    : formatMoment(time);
}

interface RowProps {
  line: Line;
  top: number;
  scale: Scale;
  isSelected: boolean;
  isCritical: boolean;
  act(): void;
}

function Row({ line, top, scale, isSelected, isCritical, act }: RowProps) {
  const { segments, span, visit, fold } = line;
  return (
    <button
      type="button"
      className={`timeline-row pick tone-${stateLooks[line.state].tone}`}
      {...(visit ? { "aria-pressed": isSelected } : { "aria-expanded": fold?.isOpen })}
      data-critical={isCritical || undefined}
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
        {segments.filter(scale.isShown).map(({ part, from, to }) => (
          <i
            key={`${part}${from}`}
            className={`timeline-bar part-${part}`}
            title={describePart(part, visit)}
            style={{
              left: formatPercent(scale.at(from)),
              width: `max(2px, ${formatPercent(scale.at(to) - scale.at(from))})`,
            }}
          />
        ))}
        {fold &&
          periods
            .listMarks(fold.items, scale)
            .map(({ at, state, ended, failed }) => (
              <i
                key={at}
                className={`timeline-mark tone-${stateLooks[state].tone}`}
                title={words.ended(ended, failed)}
                style={{ left: formatPercent(at) }}
              />
            ))}
        <span className="timeline-took" style={positionDuration(scale.at(span.from), scale.at(span.to))}>
          {formatDuration(span.to - span.from)}
        </span>
      </span>
    </button>
  );
}

/** Returns the label of a segment's class, with the recorded time of this class in the whole visit. */
function describePart(part: Part, visit: Visit | undefined): string {
  const label = texts.run.parts[part];
  return part === "running" || !visit?.entry ? label : `${label} ${formatDuration(visit.entry.times[`${part}_ms`])}`;
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
