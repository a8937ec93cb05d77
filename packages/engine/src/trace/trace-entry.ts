import type { Head } from "../chain/head.ts";
import type { RawJson } from "../json/text.ts";
import type { AiMetadata } from "./ai-metadata.ts";
import type { TraceStep } from "./trace-step.ts";

/** One entry of the chain of work as the world sees it; field names are public. Contexts are given with `full` only. */
export interface TraceEntry {
  seq: number;
  scope: string;
  node_id: string;
  node_type: string;
  status: "success" | "failed";
  error_class: string | null;
  error_message: string | null;
  traceback: string | null;
  decision_result: string | null;
  path_taken: string | null;
  changes: { set: RawJson; delete: string[] };
  execution_time_ms: number;
  attempt: number;
  /** Deliveries that came to nothing before the first attempt began: no sandbox was to be had, or their Lambda died. */
  failed_deliveries?: number;
  sandbox_id: string | null;
  timestamp: string;
  hash: string;
  prev: string | null;
  code_hash: string | null;
  /** What names led to that its code could connect to on other ports than 80 and 443. */
  resolved_hosts?: Readonly<Record<string, readonly string[]>>;
  /** Of prompt nodes. */
  ai_metadata: AiMetadata | null;
  steps: TraceStep[];
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
  /** Of a node that runs another workflow; `entries` with `full` only. */
  child?: { execution_id: string; workflow: string; version: number; entries?: TraceEntry[] };
  /** Of a fork's link: what ran in its branches, before the next entry. */
  branches?: TraceBranch[];
}

/** A branch of a parallel fork, named by its first node, or an item of a map, named by its number; begun or not. */
export interface TraceBranch {
  branch: string;
  scope: string;
  entries: TraceEntry[];
}

/** What the public form takes over from a head as it is. */
export function publicHead(head: Head) {
  return {
    seq: head.seq,
    scope: head.scope,
    node_id: head.node_id,
    node_type: head.node_type,
    status: head.status,
    error_class: head.error_class ?? null,
    decision_result: head.decision_result,
    path_taken: head.path_taken,
    execution_time_ms: head.execution_time_ms,
    attempt: head.attempt,
    ...(head.failed_deliveries !== undefined && { failed_deliveries: head.failed_deliveries }),
    sandbox_id: head.sandbox_id,
    timestamp: head.timestamp,
    prev: head.prev,
    code_hash: head.code,
    ...(head.addresses && { resolved_hosts: head.addresses }),
  };
}
