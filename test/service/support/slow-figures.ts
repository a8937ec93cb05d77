import type { Trace, TraceEntry } from "@nova/engine";

/** The statistics of one node, counted run by run. */
export interface SlowFigures {
  runs: number;
  failed: Record<string, number>;
  ms: number[];
  failedMs: number;
  spent: { cost_usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
  hits: number;
}

const notCounted = ["start", "end", "join", "close"];

/** The statistics of a run, counted in the simplest way from its public trace, to check the service's own count. */
export function slowFigures({ entries }: Pick<Trace, "entries">): Record<string, SlowFigures> {
  const figures: Record<string, SlowFigures> = {};
  for (const entry of flat(entries)) {
    if (notCounted.includes(entry.node_type)) continue;
    figures[entry.node_id] ??= {
      runs: 0,
      failed: {},
      ms: [],
      failedMs: 0,
      hits: 0,
      spent: { cost_usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 },
    };
    add(figures[entry.node_id] as SlowFigures, entry);
  }
  return figures;
}

function add(figures: SlowFigures, { status, error_class, execution_time_ms, steps, ai_metadata }: TraceEntry): void {
  figures.runs++;
  figures.ms.push(execution_time_ms);
  if (status === "failed") figures.failedMs += execution_time_ms;
  if (status === "failed") figures.failed[error_class ?? ""] = (figures.failed[error_class ?? ""] ?? 0) + 1;
  if (ai_metadata?.cache_hit) figures.hits++;
  for (const step of steps) {
    for (const key of ["cost_usd", "tokens_input", "tokens_cached", "tokens_output"] as const) {
      figures.spent[key] = Math.round((figures.spent[key] + step[key]) * 1e9) / 1e9;
    }
  }
}

function flat(entries: readonly TraceEntry[]): TraceEntry[] {
  return entries.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => flat(branch.entries))]);
}
