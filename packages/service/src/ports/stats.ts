import type { CloseStatus, Spending } from "@nova/engine";

/** Number of measurements by duration: milliseconds, rounded to two significant digits. */
export type Durations = Readonly<Record<string, number>>;

/** The statistics of a node, in one run or in many. */
export interface NodeFigures {
  runs: number;
  /** Number of failures by error class. */
  failed: Record<string, number>;
  /** Total of all its runs. */
  totalMs: number;
  /** Total of its failed runs; absent: 0. */
  failedMs?: number;
  /** Null if they do not fit into an item of the table. */
  durations: Durations | null;
  /** Absent: the node called no model. */
  spent?: Spending;
  /** Number of runs of pinned code, and the cost of writing that code again. */
  hits?: number;
  savedUsd?: number;
}

/** The statistics of an ended run, with everything that ran inside it. Written once; a repeated write is identical. */
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
  /** The node that failed. */
  failure?: { node: string; class: string };
  nodes: Record<string, NodeFigures>;
}

/** Selects runs of a workflow, of a client, or of both, that ended between two times, both included. */
export type StatsQuery = {
  /** ISO 8601. */
  from: string;
  to: string;
} & ({ workflow: string; client?: string } | { workflow?: undefined; client: string });

export interface StatsStore {
  /** Can be repeated. */
  put(stats: RunStats): Promise<void>;
  /** Sorted by the time of their end. */
  read(query: StatsQuery): AsyncIterable<RunStats>;
}
