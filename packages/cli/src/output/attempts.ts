import type { TraceEntry, TraceStep } from "@nova/engine";
import { styled } from "./terminal.ts";
import { duration, indent, shorten } from "./text.ts";

/** Lines about the attempts and deliveries before the final attempt. */
export function attemptLines(entry: TraceEntry): string[] {
  const { failed_deliveries: failed } = entry;
  const late = `${failed} deliveries ended before its code started: no sandbox was available, or their Lambda died`;
  return [...(failed ? [styled("yellow", late)] : []), ...earlierAttempts(entry).map(attemptLine)];
}

/** Says why an attempt failed, and when the next one starts. */
export function attemptLine(step: TraceStep): string {
  const { attempt_number, error_class, error_message, execution_time_ms, retry_delay_ms, retry_jitter } = step;
  const wait = retry_delay_ms ? `, the next ${retry_jitter ? "within" : "in"} ${retry_delay_ms / 1000} s` : "";
  const what = `${error_class ?? "failed"}: ${shorten(error_message ?? "")}`;
  return styled("yellow", `attempt ${attempt_number} (${duration(execution_time_ms)}${wait}): ${what}`);
}

/** The earlier attempts with their output. */
export function attemptLogs(entry: AttemptsOf): string[] {
  return earlierAttempts(entry).flatMap((step) => [
    styled("dim", `  attempt ${step.attempt_number}`),
    ...(step.logs ? [indent(step.logs)] : []),
    ...failureLines(step),
  ]);
}

/** The error of a node or of an attempt; empty if it did not fail. */
export function failureLines({ error_class, error_message, traceback }: Failure): string[] {
  return [
    ...(error_message === null ? [] : [styled("red", `  ${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indent(traceback)] : []),
  ];
}

type Failure = { error_class?: string | null; error_message: string | null; traceback?: string | null };

type AttemptsOf = Pick<TraceEntry, "steps" | "attempt" | "error_message" | "ai_metadata">;

/** The attempts before the last one. The entry itself describes a last attempt that failed. */
export function earlierAttempts({ steps, attempt, error_message, ai_metadata }: AttemptsOf): TraceStep[] {
  // Other steps of a prompt node belong to its models.
  const attempts = ai_metadata ? steps.filter(({ agent_name }) => agent_name === "Node") : steps;
  return attempts.filter((step) => step.attempt_number < attempt || step.error_message !== error_message);
}
