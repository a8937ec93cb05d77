import { formatDuration, formatUsd, type RestartForecast } from "@nova/client";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

const words = texts.run.forecast;

/** Lists the nodes that a restart would run, and the results that it would reuse. */
export function ForecastView({ forecast: { estimate, misfits, again, runs, reused } }: { forecast: RestartForecast }) {
  return (
    <div className="stack loose">
      <p>
        {words.estimate(
          formatDuration(estimate.execution_time_ms),
          estimate.cost_usd === 0 ? "" : formatUsd(estimate.cost_usd),
        )}
      </p>
      <Places label={words.misfits} places={misfits} tone="bad" />
      <Places label={words.again} places={again} tone="wait" />
      <Places label={words.runs} places={runs.filter((place) => !again.includes(place))} tone="run" />
      <Places label={words.reused} places={reused} tone="idle" />
    </div>
  );
}

function Places({ label, places, tone }: { label: string; places: readonly string[]; tone: string }) {
  if (places.length === 0) return null;
  return (
    <section className={`places tone-${tone}`}>
      <h3>
        {label} <span className="quiet">{places.length}</span>
      </h3>
      <ul>
        {places.map((place) => (
          <UntrustedText key={place} as="li" className="mono" text={place} />
        ))}
      </ul>
    </section>
  );
}
