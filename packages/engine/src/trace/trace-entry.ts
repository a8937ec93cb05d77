import type { RawJson } from "@nova/workflow";
import { defined } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { AiMetadata } from "./ai-metadata.ts";
import type { TraceStep } from "./trace-step.ts";

/** One entry of the chain of work as the world sees it; field names are public. Contexts are given with `full` only. */
export interface TraceEntry extends ReturnType<typeof publicHead> {
  error_message: string | null;
  traceback: string | null;
  changes: { set: RawJson; delete: string[] };
  hash: string;
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

/** What the public form takes over from a head. */
export function publicHead(head: Head) {
  const { execution_id, seq, scope, node_id, node_type, status, decision_result, path_taken, execution_time_ms } = head;
  const { attempt, failed_deliveries, sandbox_id, timestamp, prev, code, addresses, error_class = null } = head;
  const { reused_from: reused, edited, origin } = head;
  return defined({
    ...{
      execution_id,
      seq,
      scope,
      node_id,
      node_type,
      status,
      error_class,
      decision_result,
      path_taken,
      execution_time_ms,
      attempt,
    },
    /** Deliveries that came to nothing before the first attempt began: no sandbox was to be had, or their Lambda died. */
    failed_deliveries,
    ...{ sandbox_id, timestamp, prev },
    code_hash: code,
    /** The execution that came to this outcome, and its link there; nothing ran for it here. */
    reused_from: reused ? { execution_id: reused.execution, scope: reused.scope, seq: reused.seq } : null,
    /** Link 0 names the first run of all restarts, and where this execution is in it. Absent: this one itself. */
    origin: origin && { execution_id: origin.execution, place: origin.place },
    /** Who wrote this outcome by hand, and when; nothing ran for it. */
    edited,
    /** What names led to that its code could connect to on other ports than 80 and 443. */
    resolved_hosts: addresses,
  });
}
