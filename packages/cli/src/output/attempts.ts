import type { TraceEntry, TraceStep } from "@nova/engine";
import { indented } from "./section.ts";
import { styled } from "./terminal.ts";
import { duration, shortened } from "./text.ts";

/** What came before the attempt that counted, a line each. */
export function attemptLines(entry: TraceEntry): string[] {
  const { failed_deliveries: failed } = entry;
  const late = `${failed} deliveries came to nothing before its code began: no sandbox was to be had, or their Lambda died`;
  const attempts = earlierAttempts(entry).map((step) => {
    const { attempt_number, error_class, error_message, execution_time_ms, retry_delay_ms } = step;
    const wait = retry_delay_ms ? `, the next within ${duration(retry_delay_ms)}` : "";
    const what = `${error_class ?? "failed"}: ${shortened(error_message ?? "")}`;
    return `attempt ${attempt_number} (${duration(execution_time_ms)}${wait}): ${what}`;
  });
  return [...(failed ? [late] : []), ...attempts].map((line) => styled("yellow", line));
}

/** The same with what each of them printed. */
export function attemptLogs(entry: TraceEntry): string[] {
  return earlierAttempts(entry).flatMap(({ attempt_number, logs, error_class, error_message, traceback }) => [
    styled("dim", `  attempt ${attempt_number}`),
    ...(logs ? [indented(logs)] : []),
    styled("red", `  ${error_class ?? "failed"}: ${error_message}`),
    ...(traceback ? [indented(traceback)] : []),
  ]);
}

/** A last attempt that failed is what the entry itself tells of. */
export function earlierAttempts({ steps, attempt, error_message, ai_metadata }: TraceEntry): TraceStep[] {
  // The other steps of a prompt node are those of its models.
  const attempts = ai_metadata ? steps.filter(({ agent_name }) => agent_name === "Node") : steps;
  return attempts.filter((step) => step.attempt_number < attempt || step.error_message !== error_message);
}
