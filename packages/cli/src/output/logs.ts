import type { NodeAtWork, TraceEntry } from "@nova/engine";
import { attemptLogs, earlierAttempts, failureLines } from "./attempts.ts";
import { styled } from "./terminal.ts";
import { indent } from "./text.ts";

/** The fields of a node's run that logs show. */
export interface Logged
  extends Pick<TraceEntry, "seq" | "scope" | "node_id" | "attempt" | "steps" | "ai_metadata">,
    Pick<TraceEntry, "logs" | "error_class" | "error_message" | "traceback"> {
  status: TraceEntry["status"] | "running" | "waiting";
}

/** The failed attempts of a node that has no entry yet. */
export function loggedSoFar({ seq, scope, node_id, attempt, waits_for, attempts = [] }: NodeAtWork): Logged[] {
  if (attempts.length === 0) return [];
  const failure = { error_class: null, error_message: null, traceback: null };
  const status = waits_for ? "waiting" : "running";
  return [{ seq, scope, node_id, status, attempt, logs: null, ...failure, ai_metadata: null, steps: attempts }];
}

/** The item of a node's run in `nova logs --json`. */
export function logItem(entry: Logged) {
  const { seq, scope, node_id, status, attempt, logs, error_class, error_message, traceback } = entry;
  const attempts = earlierAttempts(entry).map((step) => ({
    attempt: step.attempt_number,
    logs: step.logs ?? "",
    error_class: step.error_class,
    error_message: step.error_message,
    traceback: step.traceback ?? null,
  }));
  return { seq, scope, node_id, status, attempt, logs: logs ?? "", error_class, error_message, traceback, attempts };
}

/** The title of a node's logs. */
export function placeLine({ seq, scope, node_id, attempt }: Pick<TraceEntry, "seq" | "scope" | "node_id" | "attempt">) {
  const place = scope === "" ? "" : styled("dim", ` in ${scope}`);
  const again = attempt > 1 ? styled("dim", `, attempt ${attempt}`) : "";
  return `${styled("dim", String(seq))} ${styled("bold", node_id)}${place}${again}`;
}

/** The logs of a node; empty if it printed nothing and did not fail. */
export function logLines(entry: Logged): string[] {
  const { logs, error_message } = entry;
  const earlier = attemptLogs(entry);
  if (!logs && error_message === null && earlier.length === 0) return [];
  return [
    placeLine(earlier.length > 0 ? { ...entry, attempt: 1 } : entry),
    ...earlier,
    ...(earlier.length > 0 && logs ? [styled("dim", `  attempt ${entry.attempt}`)] : []),
    ...(logs ? [indent(logs)] : []),
    ...failureLines(entry),
  ];
}
