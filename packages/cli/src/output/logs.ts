import { stripVTControlCharacters, styleText } from "node:util";
import type { TraceEntry } from "@nova/engine";
import { indented } from "./section.ts";

/** What `nova logs --json` has of a node's run. */
export function logItem({ seq, scope, node_id, status, logs, error_class, error_message, traceback }: TraceEntry) {
  return { seq, scope, node_id, status, logs: logs ?? "", error_class, error_message, traceback };
}

/**
 * Nothing of a node that printed nothing and did not fail. What code printed comes from whoever wrote it, or from
 * mails: it must not steer the terminal.
 */
export function logLines({ seq, scope, node_id, logs, error_class, error_message, traceback }: TraceEntry): string[] {
  if (!logs && error_message === null) return [];
  const place = scope === "" ? "" : styleText("dim", ` in ${scope}`);
  const failure = error_message === null ? [] : [styleText("red", `  ${error_class ?? "failed"}: ${error_message}`)];
  return [
    `${styleText("dim", String(seq))} ${styleText("bold", node_id)}${place}`,
    ...(logs ? [indented(stripVTControlCharacters(logs))] : []),
    ...failure,
    ...(traceback ? [indented(stripVTControlCharacters(traceback))] : []),
  ];
}
