import type { JSX } from "react";
import { formatDuration, Time, useNow } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import "./task-page.css";

/** The remaining time turns red below this limit. */
const soonMs = 3_600_000;

/** The time that remains until a deadline. */
export function Remaining({ until }: { until: string }): JSX.Element {
  const ms = Date.parse(until) - useNow();
  return (
    <span className={`remaining ${ms < soonMs ? "tone-bad" : "tone-idle"}`}>
      <b>{formatDuration(Math.max(0, ms))}</b>
      <span>
        {texts.tasks.until} <Time at={until} />
      </span>
    </span>
  );
}
