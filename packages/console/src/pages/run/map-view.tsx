import { useMemo } from "react";
import { type Fact, Facts } from "../../parts/page.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { findItem, type RunModel, reportItems, type Visit } from "./run-model.ts";

const words = texts.run.map;

interface MapViewProps {
  visit: Visit;
  model: RunModel;
  onSelect(visit: Visit): void;
}

/** The report of a map, which stands above the results of all its items. */
export function MapView({ visit, model, onSelect }: MapViewProps) {
  const report = useMemo(() => reportItems(visit, model.visits), [visit, model]);
  const { items, begun, completed, failed, cancelled, reused, failures } = report;
  const count = (number: number) => number > 0 && number.toLocaleString("en");
  const facts: Fact[] = [
    [words.items, items.toLocaleString("en")],
    [words.begun, begun < items && begun.toLocaleString("en")],
    [texts.status.completed, count(completed)],
    [texts.status.failed, count(failed)],
    [texts.status.cancelled, count(cancelled)],
    [texts.run.forecast.reused, count(reused)],
  ];
  return (
    <section className="map-report stack" aria-label={words.title}>
      <Facts className="facts" facts={facts} />
      {failures.map((failure) => (
        <button
          key={failure.key}
          type="button"
          className="map-failure pick tone-bad"
          onClick={() => onSelect(failure.visits[0] as Visit)}
        >
          <b>{words.times(failure.visits.length)}</b>
          <span className="fill">
            <span className="mono">{failure.node}</span> <b>{failure.class}</b> <UntrustedText text={failure.message} />
          </span>
          <span className="quiet small">
            {words.inItems(failure.visits.flatMap(({ scope }) => findItem(scope) ?? []))}
          </span>
        </button>
      ))}
    </section>
  );
}
