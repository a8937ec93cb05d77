import type { RawJson } from "@nova/workflow";
import { defined } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { AiMetadata } from "./ai-metadata.ts";
import type { TraceStep } from "./trace-step.ts";

/** The public form of one entry of the chain of work; field names are public. Only `full` includes contexts. */
export interface TraceEntry extends ReturnType<typeof publicHead> {
  error_message: string | null;
  traceback: string | null;
  changes: { set: RawJson; delete: string[] };
  hash: string;
  /** Set for prompt and text nodes. */
  ai_metadata: AiMetadata | null;
  steps: TraceStep[];
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
  /** Set for nodes that run another workflow; only `full` includes `entries`. */
  child?: { execution_id: string; workflow: string; version: number; entries?: TraceEntry[] };
  /** Set for the link of a fork: the entries of its branches, which precede the next entry. */
  branches?: TraceBranch[];
}

/**
 * A branch of a parallel fork, named by its first node, or an item of a map, named by its number. It may not have
 * started.
 */
export interface TraceBranch {
  branch: string;
  scope: string;
  entries: TraceEntry[];
}

/** Copies the public fields of a head. */
export function publicHead(head: Head) {
  const { execution_id, seq, scope, node_id, node_type, status, decision_result, path_taken, execution_time_ms } = head;
  const { attempt, failed_deliveries, sandbox_id, timestamp, prev, code, addresses, error_class = null } = head;
  const { reused_from: reused, edited, origin } = head;
  return defined({
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
    /** Deliveries that failed before the first attempt started: there was no sandbox, or their Lambda died. */
    failed_deliveries,
    sandbox_id,
    timestamp,
    prev,
    code_hash: code,
    /** The execution and link whose outcome this entry reuses; the node did not run here. */
    reused_from: reused ? { execution_id: reused.execution, scope: reused.scope, seq: reused.seq } : null,
    /**
     * Link 0 names the first run of all restarts, and the place of this execution in it. Absent if it is this execution
     * itself.
     */
    origin: origin && { execution_id: origin.execution, place: origin.place },
    /** The author and time of an outcome that was written by hand; the node did not run. */
    edited,
    /** Addresses that the host names resolved to, for ports other than 80 and 443. */
    resolved_hosts: addresses,
  });
}
