import { styleText } from "node:util";
import { membersOf, type RawJson, type Trace, type TraceEntry } from "@nova/engine";
import { tableLines } from "./table.ts";
import { duration, shortened, statusText } from "./text.ts";

/** What `nova trace --json` prints, to be rendered with `renderJson`. */
export function traceResult({ execution, entries, path, context }: Trace) {
  const { id, workflowId, version, status, startedAt, endedAt, durationMs, error } = execution;
  return {
    execution_id: id,
    workflow: workflowId,
    version,
    status,
    started_at: startedAt,
    ended_at: endedAt ?? null,
    duration_ms: durationMs ?? null,
    error: error ?? null,
    path,
    context,
    entries,
  };
}

export function traceLines({ execution, entries }: Trace): string[] {
  const { id, workflowId, version, status, startedAt, durationMs } = execution;
  const took = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
  const rows = entries.map((entry) => [
    String(entry.seq),
    entry.node_id,
    entry.node_type,
    statusText(entry.status),
    entry.execution_time_ms === 0 ? "" : duration(entry.execution_time_ms),
    entry.decision_result ?? "",
    changeText(entry),
  ]);
  return [
    `${styleText("bold", id)} ${workflowId} version ${version}: ${statusText(status)}${took}, started ${startedAt}`,
    ...tableLines(["", "node", "type", "status", "time", "decision", "changes"], rows),
    ...entries.flatMap(detailLines),
  ];
}

function changeText({ changes }: TraceEntry): string {
  const set = membersOf(changes.set.text).map(({ key }) => `+${key}`);
  return shortened([...set, ...changes.delete.map((key) => `-${key}`)].join(" "), 60);
}

/** What does not fit a table: errors, and with `--full` contexts, code and logs. */
function detailLines(entry: TraceEntry): string[] {
  const { node_id, error_class, error_message, traceback, code_executed, input_context, output_result, logs } = entry;
  const title = styleText("bold", `\n${entry.seq} ${node_id}`);
  const sections = [
    ...(error_message === null ? [] : [styleText("red", `${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indented(traceback)] : []),
    ...section("code", code_executed),
    ...section("context before", input_context && contextText(input_context)),
    ...section("context after", output_result && contextText(output_result)),
    ...section("logs", logs),
  ];
  return sections.length > 0 ? [title, ...sections] : [];
}

function section(name: string, text: string | null | undefined): string[] {
  return text ? [styleText("cyan", `${name}:`), indented(text)] : [];
}

function contextText(context: RawJson): string {
  return membersOf(context.text)
    .map(({ key, json }) => `${key} = ${json}`)
    .join("\n");
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}
