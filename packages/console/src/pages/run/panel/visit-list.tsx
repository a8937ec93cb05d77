import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, useEffect, useMemo, useRef } from "react";
import { durationText } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import { looks } from "../graph/state-look.ts";
import { byUrgency, isReused, itemOf, type Visit } from "../model/visits.ts";
import "./visit-list.css";

interface VisitListProps {
  visits: readonly Visit[];
  visit: Visit;
  onSelect(visit: Visit): void;
}

const height = 26;

/** Every visit of a node, or every item of its map: those that failed first, however many there are. */
export function VisitList({ visits, visit, onSelect }: VisitListProps): JSX.Element {
  const sorted = useMemo(() => visits.toSorted(byUrgency), [visits]);
  const numbers = useMemo(() => new Map(visits.map(({ key }, index) => [key, index + 1])), [visits]);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 6,
  });
  const at = sorted.findIndex(({ key }) => key === visit.key);
  const scrollTo = useRef(rows.scrollToIndex);
  scrollTo.current = rows.scrollToIndex;
  useEffect(() => {
    if (at >= 0) scrollTo.current(at, { align: "auto" });
  }, [at]);
  return (
    <section ref={scroller} className="visit-list" aria-label={texts.run.chooseVisit}>
      <div className="visit-all" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const one = sorted[index] as Visit;
          const { tone, says } = looks[one.state];
          const item = itemOf(one.scope);
          return (
            <button
              key={one.key}
              type="button"
              className={`visit tone-${tone}`}
              aria-pressed={one.key === visit.key}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => onSelect(one)}
            >
              <i className="timeline-dot" />
              <span>{item === undefined ? texts.run.visit(numbers.get(one.key) ?? 0) : texts.run.item(item)}</span>
              <span className="visit-why">
                {one.entry?.error_message ?? (isReused(one) ? texts.run.reusedShort : says)}
              </span>
              {one.entry && <span className="quiet">{durationText(one.entry.execution_time_ms)}</span>}
            </button>
          );
        })}
      </div>
    </section>
  );
}
