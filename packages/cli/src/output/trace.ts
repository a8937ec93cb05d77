import { membersOf, type RawJson, type TraceBranch, type TraceEntry } from "@nova/engine";
import type { ShownTrace } from "../records/shown.ts";
import { attemptLines } from "./attempts.ts";
import { indented, section } from "./section.ts";
import { tableLines } from "./table.ts";
import { styled } from "./terminal.ts";
import { duration, shortened, statusText } from "./text.ts";
import { codeCell, spentText, writtenLines } from "./written.ts";

/** What `nova trace --json` prints, to be rendered with `renderJson`. */
export function traceResult({ execution, entries, path, context, atWork }: ShownTrace) {
  const { id, workflowId, version, status, startedAt, endedAt, durationMs, error, parent, spent } = execution;
  return {
    execution_id: id,
    workflow: workflowId,
    version,
    status,
    started_at: startedAt,
    ended_at: endedAt ?? null,
    duration_ms: durationMs ?? null,
    ...spent,
    error: error ?? null,
    parent: parent ? { execution_id: parent.execution, scope: parent.scope, seq: parent.seq } : null,
    path,
    context,
    at_work: atWork,
    entries,
  };
}

export function traceLines({ execution, entries }: Pick<ShownTrace, "execution" | "entries">): string[] {
  const { id, workflowId, version, status, startedAt, durationMs, parent, spent } = execution;
  const took = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
  const shown = treeOf(entries);
  const isWritten = shown.some((line) => "entry" in line && line.entry.ai_metadata !== null);
  const header = ["", "node", "type", "status", "time", "decision", ...(isWritten ? ["code"] : []), "changes"];
  return [
    ...(parent ? [styled("dim", `run by link ${parent.seq}${parent.scope} of ${parent.execution}`)] : []),
    `${styled("bold", id)} ${workflowId} version ${version}: ${statusText(status)}${took}, started ${startedAt}`,
    ...(spent ? [`models: ${spentText(spent)}`] : []),
    ...tableLines(
      header,
      shown.map((line) => rowOf(line, isWritten)),
    ),
    ...shown.flatMap((line) => ("entry" in line ? detailLines(line.entry) : [])),
  ];
}

/** A line of the table: an entry, or the name of what follows, so many branches deep. */
type TreeLine = { depth: number } & ({ entry: TraceEntry; visit: number } | { title: string });

const mostItems = 20;
const firstItems = 5;

function treeOf(entries: readonly TraceEntry[], depth = 0): TreeLine[] {
  const visits = new Map<string, number>();
  return entries.flatMap((entry) => {
    const visit = (visits.get(entry.node_id) ?? 0) + 1;
    visits.set(entry.node_id, visit);
    return [{ depth, entry, visit }, ...childLines(entry, depth + 1), ...branchLines(entry.branches ?? [], depth + 1)];
  });
}

function childLines({ child }: TraceEntry, depth: number): TreeLine[] {
  if (!child) return [];
  const title = `workflow ${child.workflow} version ${child.version}: ${child.execution_id}`;
  return [{ depth, title }, ...treeOf(child.entries ?? [], depth)];
}

/** Of many items the first ones, those that failed, and how many there are. */
function branchLines(branches: readonly TraceBranch[], depth: number): TreeLine[] {
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  const isFailed = ({ entries }: TraceBranch) => entries.at(-1)?.status === "failed";
  const all = !isMap || branches.length <= mostItems;
  const shown = all ? branches : branches.filter((branch, i) => i < firstItems || isFailed(branch));
  const lines = shown.flatMap(({ branch, entries }): TreeLine[] => [
    { depth, title: isMap ? `item ${branch}` : `branch ${branch}` },
    ...treeOf(entries, depth),
  ]);
  if (all) return lines;
  const count = `${branches.length} items, ${branches.filter(isFailed).length} failed; ${shown.length} are shown`;
  return [...lines, { depth, title: count }];
}

function rowOf(line: TreeLine, isWritten: boolean): string[] {
  const indent = "  ".repeat(line.depth);
  if ("title" in line) return ["", styled("dim", indent.slice(2) + line.title)];
  const { entry, visit } = line;
  return [
    String(entry.seq),
    indent + entry.node_id + (visit > 1 ? styled("dim", ` (${visit})`) : ""),
    entry.node_type,
    statusText(entry.status),
    entry.execution_time_ms === 0 ? "" : duration(entry.execution_time_ms),
    entry.decision_result ?? "",
    ...(isWritten ? [codeCell(entry)] : []),
    changeText(entry),
  ];
}

function changeText({ changes }: TraceEntry): string {
  const set = membersOf(changes.set.text).map(({ key }) => `+${key}`);
  return shortened([...set, ...changes.delete.map((key) => `-${key}`)].join(" "), 60);
}

/**
 * What does not fit a table: errors, earlier attempts, and of prompt nodes what went wrong, and with `--full` contexts, code, steps and
 * logs.
 */
function detailLines(entry: TraceEntry): string[] {
  const { scope, node_id, error_class, error_message, traceback, code_executed, input_context, output_result, logs } =
    entry;
  const title = styled("bold", `\n${entry.seq} ${node_id}${scope === "" ? "" : ` in ${scope}`}`);
  const sections = [
    ...(error_message === null ? [] : [styled("red", `${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indented(traceback)] : []),
    ...attemptLines(entry),
    ...writtenLines(entry),
    ...section("code", code_executed),
    ...section("context before", input_context && contextText(input_context)),
    ...section("context after", output_result && contextText(output_result)),
    ...section("logs", logs),
  ];
  return sections.length > 0 ? [title, ...sections] : [];
}

function contextText(context: RawJson): string {
  return membersOf(context.text)
    .map(({ key, json }) => `${key} = ${json}`)
    .join("\n");
}
