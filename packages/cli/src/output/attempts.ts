import type { TraceEntry, TraceStep } from "@nova/engine";
import { styled } from "./terminal.ts";
import { duration, indented, shortened } from "./text.ts";

/** What came before the attempt that counted, a line each. */
export function attemptLines(entry: TraceEntry): string[] {
  const { failed_deliveries: failed } = entry;
  const late = `${failed} deliveries came to nothing before its code began: no sandbox was to be had, or their Lambda died`;
  return [...(failed ? [styled("yellow", late)] : []), ...earlierAttempts(entry).map(attemptLine)];
}

/** Why an attempt failed, and when the next one begins. */
export function attemptLine(step: TraceStep): string {
  const { attempt_number, error_class, error_message, execution_time_ms, retry_delay_ms, retry_jitter } = step;
  const wait = retry_delay_ms ? `, the next ${retry_jitter ? "within" : "in"} ${retry_delay_ms / 1000} s` : "";
  const what = `${error_class ?? "failed"}: ${shortened(error_message ?? "")}`;
  return styled("yellow", `attempt ${attempt_number} (${duration(execution_time_ms)}${wait}): ${what}`);
}

/** The same with what each of them printed. */
export function attemptLogs(entry: AttemptsOf): string[] {
  return earlierAttempts(entry).flatMap((step) => [
    styled("dim", `  attempt ${step.attempt_number}`),
    ...(step.logs ? [indented(step.logs)] : []),
    ...failureLines(step),
  ]);
}

/** Why a node or an attempt of it failed; nothing where it did not. */
export function failureLines({ error_class, error_message, traceback }: Failure): string[] {
  return [
    ...(error_message === null ? [] : [styled("red", `  ${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indented(traceback)] : []),
  ];
}

type Failure = { error_class?: string | null; error_message: string | null; traceback?: string | null };

type AttemptsOf = Pick<TraceEntry, "steps" | "attempt" | "error_message" | "ai_metadata">;

/** A last attempt that failed is what the entry itself tells of. */
export function earlierAttempts({ steps, attempt, error_message, ai_metadata }: AttemptsOf): TraceStep[] {
  // The other steps of a prompt node are those of its models.
  const attempts = ai_metadata ? steps.filter(({ agent_name }) => agent_name === "Node") : steps;
  return attempts.filter((step) => step.attempt_number < attempt || step.error_message !== error_message);
}
