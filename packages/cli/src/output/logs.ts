import type { TraceEntry } from "@nova/engine";
import { indented } from "./section.ts";
import { styled } from "./terminal.ts";

/** What `nova logs --json` has of a node's run. */
export function logItem({ seq, scope, node_id, status, logs, error_class, error_message, traceback }: TraceEntry) {
  return { seq, scope, node_id, status, logs: logs ?? "", error_class, error_message, traceback };
}

/** Nothing of a node that printed nothing and did not fail. */
export function logLines({ seq, scope, node_id, logs, error_class, error_message, traceback }: TraceEntry): string[] {
  if (!logs && error_message === null) return [];
  const place = scope === "" ? "" : styled("dim", ` in ${scope}`);
  const failure = error_message === null ? [] : [styled("red", `  ${error_class ?? "failed"}: ${error_message}`)];
  return [
    `${styled("dim", String(seq))} ${styled("bold", node_id)}${place}`,
    ...(logs ? [indented(logs)] : []),
    ...failure,
    ...(traceback ? [indented(traceback)] : []),
  ];
}
