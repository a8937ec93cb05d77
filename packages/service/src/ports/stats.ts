import type { CloseStatus, Spending } from "@nova/engine";

/** How often something took so long: milliseconds, rounded to two significant digits, and their number. */
export type Durations = Readonly<Record<string, number>>;

/** What one node did in one run, or in many. */
export interface NodeFigures {
  runs: number;
  /** By class of the error. */
  failed: Record<string, number>;
  /** Of all its runs. */
  totalMs: number;
  /** Of its failed runs alone; absent: 0. */
  failedMs?: number;
  /** Null where an item of the table has no room for them. */
  durations: Durations | null;
  /** Absent: no model was asked. */
  spent?: Spending;
  /** Runs of pinned code, and what writing it again would have cost. */
  hits?: number;
  savedUsd?: number;
}

/** The figures of one run that has ended, all that ran inside of it too. Written once, the same each time. */
export interface RunStats {
  format: 1;
  execution: string;
  workflowId: string;
  version: number;
  client: string;
  status: CloseStatus;
  /** ISO 8601. */
  endedAt: string;
  durationMs: number;
  /** Where it failed. */
  failure?: { node: string; class: string };
  nodes: Record<string, NodeFigures>;
}

/** Runs of a workflow, of a client, or of a workflow for a client, that ended from one moment to another, both included. */
export type StatsQuery = {
  /** ISO 8601. */
  from: string;
  to: string;
} & ({ workflow: string; client?: string } | { workflow?: undefined; client: string });

export interface StatsStore {
  /** Again is harmless. */
  put(stats: RunStats): Promise<void>;
  /** In the order in which they ended. */
  read(query: StatsQuery): AsyncIterable<RunStats>;
}
