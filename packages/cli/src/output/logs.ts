import { formatDuration } from "@nova/client";
import type { NodeAtWork, TraceEntry, TraceStep } from "@nova/engine";
import type { LogPiece } from "../api/follow-logs.ts";
import { styled } from "./terminal.ts";
import { indent, shorten } from "./text.ts";

export interface Logged
  extends Pick<TraceEntry, "seq" | "scope" | "node_id" | "attempt" | "steps" | "ai_metadata">,
    Pick<TraceEntry, "logs" | "error_class" | "error_message" | "traceback"> {
  status: TraceEntry["status"] | "running" | "waiting";
}

/** Returns the failed attempts of a node that has no entry yet. */
export function loggedSoFar({ seq, scope, node_id, attempt, waits_for, attempts = [] }: NodeAtWork): Logged[] {
  if (attempts.length === 0) return [];
  const failure = { error_class: null, error_message: null, traceback: null };
  const status = waits_for ? "waiting" : "running";
  return [{ seq, scope, node_id, status, attempt, logs: null, ...failure, ai_metadata: null, steps: attempts }];
}

/** Builds one item of `nova logs --json`: the logs of a node. */
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

/** Formats the title above the logs of a node. */
export function placeLine({ seq, scope, node_id, attempt }: Pick<TraceEntry, "seq" | "scope" | "node_id" | "attempt">) {
  const place = scope === "" ? "" : styled("dim", ` in ${scope}`);
  const again = attempt > 1 ? styled("dim", `, attempt ${attempt}`) : "";
  return `${styled("dim", String(seq))} ${styled("bold", node_id)}${place}${again}`;
}

/** Formats the logs of a node. Returns no lines if the node printed nothing and did not fail. */
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

/** Returns one line for each attempt, and for each Lambda delivery, before the final attempt. */
export function attemptLines(entry: TraceEntry): string[] {
  const { failed_deliveries: failed } = entry;
  const late = `${failed} deliveries ended before its code started: no sandbox was available, or their Lambda died`;
  return [...(failed ? [styled("yellow", late)] : []), ...earlierAttempts(entry).map(attemptLine)];
}

/** Returns a line that says why an attempt failed, and when the next attempt starts. */
export function attemptLine(step: TraceStep): string {
  const { attempt_number, error_class, error_message, execution_time_ms, retry_delay_ms, retry_jitter } = step;
  const wait = retry_delay_ms ? `, the next ${retry_jitter ? "within" : "in"} ${retry_delay_ms / 1000} s` : "";
  const what = `${error_class ?? "failed"}: ${shorten(error_message ?? "")}`;
  return styled("yellow", `attempt ${attempt_number} (${formatDuration(execution_time_ms)}${wait}): ${what}`);
}

/** Describes the earlier attempts with their output. */
export function attemptLogs(entry: AttemptsOf): string[] {
  return earlierAttempts(entry).flatMap((step) => [
    styled("dim", `  attempt ${step.attempt_number}`),
    ...(step.logs ? [indent(step.logs)] : []),
    ...failureLines(step),
  ]);
}

/** Describes the error of a node or of an attempt. Returns no lines if there is no error. */
export function failureLines({ error_class, error_message, traceback }: Failure): string[] {
  return [
    ...(error_message === null ? [] : [styled("red", `  ${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indent(traceback)] : []),
  ];
}

type Failure = { error_class?: string | null; error_message: string | null; traceback?: string | null };

type AttemptsOf = Pick<TraceEntry, "steps" | "attempt" | "error_message" | "ai_metadata">;

/** Returns the attempts before the last one. If the last attempt failed, the entry itself describes it. */
export function earlierAttempts({ steps, attempt, error_message, ai_metadata }: AttemptsOf): TraceStep[] {
  // For a prompt node, the other steps are calls of its models, not attempts.
  const attempts = ai_metadata ? steps.filter(({ agent_name }) => agent_name === "Node") : steps;
  return attempts.filter((step) => step.attempt_number < attempt || step.error_message !== error_message);
}

/** An incomplete line with more characters than this is printed before its end arrives. */
const longestLine = 4096;

/**
 * Formats logs that arrive in pieces. Prints a title before the lines if they belong to another node than the lines
 * before.
 */
export class LogLines {
  #speaker = "";
  /** The incomplete last line of each entry's output, by entry. */
  readonly #partial = new Map<string, string>();

  of(piece: LogPiece): string[] {
    if (piece.kind === "crowd") {
      const rest = "the others' output is printed when they end";
      return [styled("dim", `${piece.count} nodes are running, ${piece.followed} of them are followed; ${rest}`)];
    }
    if (piece.kind === "printed") return this.#printed(piece);
    return piece.kind === "ended" ? this.#ended(piece) : this.#failed(piece);
  }

  #printed({ at, text, leftOut }: Extract<LogPiece, { kind: "printed" }>): string[] {
    const name = `${at.scope}#${at.seq}`;
    const whole = (this.#partial.get(name) ?? "") + text;
    // Prints the text up to the last line end. A piece without text means that no more text has arrived for a while, so
    // the incomplete line is printed too.
    const end = text === "" || whole.length > longestLine ? whole.length : whole.lastIndexOf("\n") + 1;
    this.#partial.set(name, whole.slice(end));
    const gap = leftOut > 0 ? [styled("dim", `  ... ${leftOut} bytes are left out`)] : [];
    const lines = [...gap, ...(end > 0 ? [indent(whole.slice(0, end))] : [])];
    return lines.length > 0 ? [...this.#title(at), ...lines] : [];
  }

  #failed({ at, step }: Extract<LogPiece, { kind: "failed" }>): string[] {
    const logs = this.#rest(at) + (step.logs ?? "");
    return [...this.#title(at), ...(logs === "" ? [] : [indent(logs)]), ...failureLines(step)];
  }

  #ended({ entry, logs, steps }: Extract<LogPiece, { kind: "ended" }>): string[] {
    const [title, ...lines] = logLines({ ...entry, steps, logs: this.#rest(entry) + logs });
    return title === undefined ? [] : [...this.#title(entry), ...lines];
  }

  #rest({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
    const name = `${scope}#${seq}`;
    const partial = this.#partial.get(name) ?? "";
    this.#partial.delete(name);
    return partial;
  }

  #title(place: Parameters<typeof placeLine>[0]): string[] {
    const title = placeLine(place);
    if (title === this.#speaker) return [];
    this.#speaker = title;
    return [title];
  }
}
