import { type AtWork, membersOf, type NodeAtWork, type RawJson, renderJson, type TraceEntry } from "@nova/engine";
import { listEntries, type ShownTrace } from "../api/recorded.ts";
import { attemptLine, attemptLines } from "./attempts.ts";
import { tableLines } from "./table.ts";
import { styled } from "./terminal.ts";
import { cell, duration, indent, section, statusText } from "./text.ts";
import { buildTree, type TreeLine } from "./trace-tree.ts";
import { codeCell, codeCellOf, spentText, writtenLines } from "./written.ts";

/** The result of `nova trace --json`, for `renderJson`. */
export function traceResult({ item, entries, path, context, atWork, pages }: ShownTrace) {
  const { client: _client, nodes: _nodes, spent, error, parent, ...run } = item;
  return { ...run, ...spent, error, parent, path, context, at_work: atWork, state_machine_pages: pages, entries };
}

/** `full`: every visit on its own line, with code, logs and its changes. */
export function traceLines(
  { execution, entries, atWork, pages }: Pick<ShownTrace, "execution" | "entries" | "atWork" | "pages">,
  full = false,
): string[] {
  const {
    id,
    workflowId,
    version,
    status,
    startedAt,
    durationMs,
    parent,
    spent,
    restarts = [],
    labels = {},
  } = execution;
  const took = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
  const shown = buildTree(entries, full);
  const codes = new Map<string, string>();
  const told = shown.flatMap((line) => ("entry" in line ? line.entry : "visits" in line ? line.visits : []));
  const isWritten = told.some(({ ai_metadata }) => ai_metadata !== null);
  const header = ["", "node", "type", "status", "time", "decision", ...(isWritten ? ["code"] : []), "changes"];
  const rows = shown.map((line) => rowOf(line, isWritten));
  return [
    ...(parent ? [styled("dim", `run by entry ${parent.seq}${parent.scope} of ${parent.execution}`)] : []),
    `${styled("bold", id)} ${workflowId} version ${version}: ${statusText(status)}${took}, started ${startedAt}`,
    ...reusedLines(execution, listEntries({ entries })),
    ...Object.entries(labels).map(([name, value]) => `label ${name}=${value}`),
    ...(restarts.length > 0 ? [`restarted as ${restarts.join(", ")}`] : []),
    ...(spent ? [`models: ${spentText(spent)}`] : []),
    ...pages.map((page) => `Step Functions: ${page}`),
    ...atWorkLines(atWork, Date.now()),
    ...(execution.open && atWork.count === 0 ? nextLines(entries) : []),
    ...tableLines(header, rows),
    ...shown.flatMap((line) => ("entry" in line ? detailLines(line.entry, codes) : [])),
  ];
}

/** The next node of a run without open nodes: it may wait for a sandbox, or for a slot. */
function nextLines(entries: readonly TraceEntry[]): string[] {
  const last = entries.at(-1);
  return last?.path_taken && !last.branches
    ? [`${styled("cyan", "next")} ${last.path_taken} since ${last.timestamp}`]
    : [];
}

function rowOf(line: TreeLine, isWritten: boolean): string[] {
  const indent = "  ".repeat(line.depth);
  if ("title" in line) return ["", styled("dim", indent.slice(2) + line.title)];
  if ("visits" in line) return foldedRow(line.visits, indent, isWritten);
  const { entry, which } = line;
  return [
    String(entry.seq),
    indent + entry.node_id + (which === "" ? "" : styled("dim", ` ${which}`)),
    entry.node_type,
    statusText(entry.status),
    timeText([entry]),
    entry.decision_result ?? "",
    ...(isWritten ? [codeCell(entry)] : []),
    changeText([entry]),
  ];
}

/** Sums over several visits of a node. */
function foldedRow(visits: readonly TraceEntry[], indent: string, isWritten: boolean): string[] {
  const [first] = visits as [TraceEntry];
  const decisions = Map.groupBy(visits, ({ decision_result }) => decision_result ?? "");
  const taken = Array.from(decisions, ([label, those]) => (label === "" ? [] : `${label} ${those.length}`)).flat();
  return [
    "",
    `${indent}${first.node_id} x ${visits.length}`,
    first.node_type,
    statusText(first.status),
    timeText(visits),
    taken.join(", "),
    ...(isWritten ? [codeCellOf(visits)] : []),
    changeText(visits),
  ];
}

/** The execution time of visits, and how many of them were reused. */
function timeText(visits: readonly TraceEntry[]): string {
  const ms = visits.reduce((sum, { execution_time_ms }) => sum + execution_time_ms, 0);
  const reused = visits.filter(({ reused_from }) => reused_from).length;
  const word = reused === visits.length ? "reused" : `${reused} reused`;
  return [ms === 0 ? [] : duration(ms), reused === 0 ? [] : word].flat().join(", ");
}

/** The source of a restart, and how many entries it reuses from which executions. */
function reusedLines({ restartedFrom }: ShownTrace["execution"], entries: readonly TraceEntry[]): string[] {
  if (restartedFrom === undefined) return [];
  const reused = entries.flatMap(({ reused_from }) => reused_from ?? []);
  const sources = Map.groupBy(reused, ({ execution_id }) => execution_id);
  const told = Array.from(sources, ([id, { length }]) => {
    const of = id === restartedFrom ? "" : ` from ${id}`;
    return `${length} ${length === 1 ? "entry is" : "entries are"} reused${of}`;
  });
  return [`restarted from ${restartedFrom}${told.length > 0 ? `: ${told.join(", ")}` : ""}`];
}

function changeText(visits: readonly TraceEntry[]): string {
  const keys = new Set(
    visits.flatMap(({ changes }) => [
      ...membersOf(changes.set.text).map(({ key }) => `+${key}`),
      ...changes.delete.map((key) => `-${key}`),
    ]),
  );
  return cell(Array.from(keys).join(" "));
}

/** Details below the table; `--full` adds more. `codes` has the last shown code of each node. */
function detailLines(entry: TraceEntry, codes: Map<string, string>): string[] {
  const { scope, node_id, status, error_class, error_message, traceback, code_executed, logs } = entry;
  const { input_context, output_result } = entry;
  const title = styled("bold", `\n${entry.seq} ${node_id}${scope === "" ? "" : ` in ${scope}`}`);
  const sections = [
    ...(error_message === null ? [] : [styled("red", `${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indent(traceback)] : []),
    ...attemptLines(entry),
    ...writtenLines(entry),
    ...codeSection(node_id, code_executed, codes),
    // The reason for a failure may be in the context.
    ...section("context before", status === "failed" && input_context ? contextText(input_context) : null),
    ...section("changes", output_result === undefined ? null : changedText(entry)),
    ...section("logs", logs),
  ];
  return sections.length > 0 ? [title, ...sections] : [];
}

/** A loop runs the same code repeatedly, so unchanged code is shown once. */
function codeSection(node: string, code: string | null | undefined, codes: Map<string, string>): string[] {
  if (!code) return [];
  if (codes.get(node) === code) return [`${styled("cyan", "code:")} as before`];
  codes.set(node, code);
  return section("code", code);
}

/** The values that the node set; the rest of the context is not its own. */
function changedText({ changes }: TraceEntry): string {
  return [contextText(changes.set), ...changes.delete.map((key) => `${key} is deleted`)]
    .filter((text) => text !== "")
    .join("\n");
}

function contextText(context: RawJson): string {
  return membersOf(context.text)
    .map(({ key, json }) => `${key} = ${json}`)
    .join("\n");
}

/** Shows the open nodes of a run, one line each. */
export function atWorkLines({ count, nodes, maps }: AtWork, nowMs: number): string[] {
  const more = count - nodes.length;
  return [
    ...maps.map(({ node_id, items, done, failed }) => {
      const bad = failed > 0 ? `, ${failed} failed` : "";
      return `${styled("cyan", "map")} ${node_id} ${done}/${items} items done${bad}`;
    }),
    ...nodes.flatMap((node) => [
      nodeLine(node, nowMs),
      ...(node.attempts ?? []).map((step) => `  ${attemptLine(step)}`),
    ]),
    ...(more > 0 ? [styled("dim", `and ${more} more`)] : []),
  ];
}

function nodeLine({ node_id, scope, attempt, since, waits_for }: NodeAtWork, nowMs: number): string {
  const place = scope === "" ? "" : styled("dim", ` in ${scope}`);
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const time = `since ${since} (${duration(Math.max(0, nowMs - Date.parse(since)))})`;
  const what = waits_for ? styled("yellow", "waits") : styled("cyan", "working");
  return `${what} ${styled("bold", node_id)}${place} ${time}${again}${waits_for ? waitText(waits_for) : ""}`;
}

function waitText(wait: NonNullable<NodeAtWork["waits_for"]>): string {
  const until = wait.until === null ? "" : ` until ${wait.until}`;
  if (wait.kind === "time") return until;
  if (wait.kind === "workflow") return ` for ${wait.execution_id}`;
  if (wait.kind === "retry") return ` for its next attempt${until}`;
  if (wait.kind === "event") return ` for an event like ${cell(renderJson(wait.pattern))}${until}`;
  return ` for ${wait.choices.join(" or ")}${until}: ${cell(wait.message)}`;
}
