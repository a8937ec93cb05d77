import { nodeIndex } from "@nova/workflow";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { SourcePath } from "./follow-source.ts";
import type { Source, SourceEntry } from "./source.ts";

/** The expected effects of a restart, as far as they can be known. Places are named as `SourceEntry.name`. */
export interface Forecast {
  /** Places of the document: their outcomes are reused. */
  reused: string[];
  /** Nodes that run, and all that may follow them. `each[*].find` if the items are not known yet. */
  runs: string[];
  /** The nodes of `runs` that have run before and are not declared to be without effects. */
  again: string[];
  /** Reasons why the version does not fit what is to be reused, a sentence each. */
  misfits: string[];
  /** Cost in the source of the nodes that run, and the time that their code took. */
  estimate: { cost_usd: number; execution_time_ms: number };
}

export function buildForecast(
  source: Source,
  { workflow }: WorkflowVersion,
  { reused, runs, misfits }: SourcePath,
): Forecast {
  const places = [...runs.keys()];
  const before = places.flatMap((place) => source.entries.get(place) ?? []);
  const runsAgain = (place: string) => {
    const node = nodeIndex(workflow).get(runs.get(place) ?? "")?.node;
    if (!node || !("executor" in node)) return false;
    const isSame = ({ head, name }: SourceEntry) => (place.includes("[*]") ? head.node_id === node.id : name === place);
    return node.effects !== false && source.entries.values().some(isSame);
  };
  return {
    reused: [...reused.keys()],
    runs: places,
    again: places.filter(runsAgain),
    misfits: [...misfits],
    estimate: {
      cost_usd: before.reduce((sum, { spent }) => sum + (spent?.cost_usd ?? 0), 0),
      execution_time_ms: before.reduce((sum, { head }) => sum + (head.code === null ? 0 : head.execution_time_ms), 0),
    },
  };
}
