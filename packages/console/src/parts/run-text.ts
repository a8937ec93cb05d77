import { type Execution, formatDuration } from "@nova/client";
import { texts } from "../texts.ts";
import { formatMoment } from "./time.tsx";

/** Lists the labels of a run as people write them: `order=PO-10`. */
export function listLabels({ labels: named = {} }: Pick<Execution, "labels">): string[] {
  return Object.entries(named).map(([name, value]) => `${name}=${value}`);
}

/** Describes a run in one line for a list of choices, with the same facts as the list of runs. */
export function describeRun(run: Execution, nameOf: (workflow: string) => string): string {
  const { execution_id: id, workflow, version, status, client, started_at, duration_ms } = run;
  return [
    formatMoment(Date.parse(started_at)),
    texts.status[status],
    ...listLabels(run),
    `${nameOf(workflow)} v${version}`,
    client,
    ...(duration_ms === null ? [] : [formatDuration(duration_ms)]),
    `…${id.slice(-8)}`,
  ].join(" · ");
}
