import type { Execution } from "@nova/client";
import type { JSX } from "react";
import { Link } from "wouter";
import { statuses, toneOf } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";

const words = texts.workflows;
const shown = 12;

interface LastRunsProps {
  workflow: string;
  /** Newest first. */
  runs: readonly Execution[];
}

/** A mark for each of the last runs, the newest at the right. Failed ones are taller, for those who see no colours. */
export function LastRuns({ workflow, runs }: LastRunsProps): JSX.Element {
  const last = runs.slice(0, shown).toReversed();
  if (last.length === 0) return <span className="quiet">{words.noRuns}</span>;
  const told = statuses.flatMap((status) => {
    const count = last.filter((run) => run.status === status).length;
    return count === 0 ? [] : [`${count} ${texts.status[status]}`];
  });
  const label = `${words.lastRuns(last.length)}: ${told.join(", ")}`;
  return (
    <Link href={`/?workflow=${workflow}`} className="last-runs" aria-label={label} title={label}>
      {last.map(({ execution_id: id, status }) => (
        <span key={id} className={`last-run tone-${toneOf(status)}`} data-status={status} />
      ))}
    </Link>
  );
}
