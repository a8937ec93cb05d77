import { callsOf, formatDuration, formatUsd, sumTimes, type Times, timeClasses } from "@nova/client";
import {
  type AtWork,
  membersOf,
  type NodeAtWork,
  type RawJson,
  renderJson,
  type Spending,
  type TraceBranch,
  type TraceEntry,
  type TraceStep,
} from "@nova/engine";
import { isOpen, listEntries, type ShownTrace } from "../api/recorded.ts";
import { attemptLine, attemptLines } from "./logs.ts";
import { styled } from "./terminal.ts";
import { cell, indent, type NameOf, section, shorten, statusText, tableLines } from "./text.ts";

/** Builds the result of `nova trace --json`, for `renderJson`. */
export function traceResult({ client: _client, nodes: _nodes, spent, entries, ...run }: ShownTrace) {
  return { ...run, ...spent, times: sumTimes(entries), entries };
}

/** Formats a trace. `full` gives every visit its own line, with its code, logs and changes. */
export function traceLines(trace: ShownTrace, full = false, nameOf: NameOf = (workflow) => workflow): string[] {
  const { execution_id: id, version, status, duration_ms: ms, parent, spent, restarts, labels, entries } = trace;
  const name = `${nameOf(trace.workflow)} version ${version}`;
  const took = ms === null ? "" : ` in ${formatDuration(ms)}`;
  const shown = buildTree(entries, full);
  const codes = new Map<string, string>();
  const told = shown.flatMap((line) => ("entry" in line ? line.entry : "visits" in line ? line.visits : []));
  const isWritten = told.some(({ ai_metadata }) => ai_metadata !== null);
  const header = ["", "node", "type", "status", "time", "decision", ...(isWritten ? ["code"] : []), "changes"];
  const rows = shown.map((line) => rowOf(line, isWritten));
  return [
    ...(parent ? [styled("dim", `run by entry ${parent.seq}${parent.scope} of ${parent.execution_id}`)] : []),
    `${styled("bold", id)} ${name}: ${statusText(status)}${took}, started ${trace.started_at}`,
    ...reusedLines(trace),
    ...Object.entries(labels).map(([name, value]) => `label ${name}=${value}`),
    ...(restarts.length > 0 ? [`restarted as ${restarts.join(", ")}`] : []),
    ...(spent ? [`models: ${spentText(spent)}`] : []),
    ...timeLines(sumTimes(entries)),
    ...trace.state_machine_pages.map((page) => `Step Functions: ${page}`),
    ...atWorkLines(trace.at_work, Date.now()),
    ...(isOpen(trace) && trace.at_work.count === 0 ? nextLines(entries) : []),
    ...tableLines(header, rows),
    ...shown.flatMap((line) => ("entry" in line ? detailLines(line.entry, codes) : [])),
  ];
}

/**
 * Shows the recorded time of all nodes by class. The sum may exceed the time of the run, because nodes of branches run
 * at the same time.
 */
function timeLines(times: Times): string[] {
  const shown = timeClasses.filter((name) => times[`${name}_ms`] > 0);
  const parts = shown.map((name) => `${name} ${formatDuration(times[`${name}_ms`])}`);
  return parts.length === 0 ? [] : [`time: ${parts.join(", ")}`];
}

/** Names the next node of a run that has no open node. The next node may wait for a sandbox or for a slot. */
function nextLines(entries: readonly TraceEntry[]): string[] {
  const last = entries.at(-1);
  return last?.path_taken && !last.branches
    ? [`${styled("cyan", "next")} ${last.path_taken} since ${last.timestamp}`]
    : [];
}

function rowOf(line: TreeLine, isWritten: boolean): string[] {
  const indent = "  ".repeat(line.depth);
  if ("title" in line) return ["", styled("dim", indent.slice(2) + line.title)];
  const visits = "entry" in line ? [line.entry] : line.visits;
  const [first] = visits as [TraceEntry];
  const [seq, which, decision, code] =
    "entry" in line
      ? [String(first.seq), line.which && styled("dim", ` ${line.which}`), first.decision_result ?? "", codeCell(first)]
      : ["", ` x ${visits.length}`, decisionText(visits), codeCellOf(visits)];
  const start = [seq, indent + first.node_id + which, first.node_type, statusText(first.status), timeText(visits)];
  return [...start, decision, ...(isWritten ? [code] : []), changeText(visits)];
}

function decisionText(visits: readonly TraceEntry[]): string {
  const decisions = Map.groupBy(visits, ({ decision_result }) => decision_result ?? "");
  return Array.from(decisions, ([label, those]) => (label === "" ? [] : `${label} ${those.length}`))
    .flat()
    .join(", ");
}

function timeText(visits: readonly TraceEntry[]): string {
  const ms = visits.reduce((sum, { execution_time_ms }) => sum + execution_time_ms, 0);
  const reused = visits.filter(({ reused_from }) => reused_from).length;
  const word = reused === visits.length ? "reused" : `${reused} reused`;
  return [ms === 0 ? [] : formatDuration(ms), reused === 0 ? [] : word].flat().join(", ");
}

function reusedLines({ restarted_from: source, entries }: ShownTrace): string[] {
  if (source === null) return [];
  const reused = listEntries({ entries }).flatMap(({ reused_from }) => reused_from ?? []);
  const sources = Map.groupBy(reused, ({ execution_id }) => execution_id);
  const told = Array.from(sources, ([id, { length }]) => {
    const of = id === source ? "" : ` from ${id}`;
    return `${length} ${length === 1 ? "entry is" : "entries are"} reused${of}`;
  });
  return [`restarted from ${source}${told.length > 0 ? `: ${told.join(", ")}` : ""}`];
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

/**
 * Formats the details of an entry, which follow the table. `--full` adds more. `codes` contains, for each node, the
 * code that the trace has shown last.
 */
function detailLines(entry: TraceEntry, codes: Map<string, string>): string[] {
  const { scope, node_id, status, error_class, error_message, traceback, code_executed, logs } = entry;
  const { input_context, output_result } = entry;
  const title = styled("bold", `\n${entry.seq} ${node_id}${scope === "" ? "" : ` in ${scope}`}`);
  const sections = [
    ...(error_message === null ? [] : [styled("red", `${error_class ?? "failed"}: ${error_message}`)]),
    ...(traceback ? [indent(traceback)] : []),
    ...attemptLines(entry),
    ...writtenLines(entry),
    ...talkLines(entry),
    ...codeSection(node_id, code_executed, codes),
    // If the node failed, the trace shows the context, because the context may contain the reason.
    ...section("context before", status === "failed" && input_context ? contextText(input_context) : null),
    ...section("changes", output_result === undefined ? null : changedText(entry)),
    ...section("logs", logs),
  ];
  return sections.length > 0 ? [title, ...sections] : [];
}

/**
 * Formats one visit of an agent: the question, the answer of the model, the calls that the model requested, and their
 * results.
 */
export function talkLines(entry: TraceEntry): string[] {
  const { node_type, ai_metadata, reply, steps, branches, changes } = entry;
  if (node_type !== "agent" || reply === null) return [];
  const spent = steps.map(({ tokens_input, tokens_output, cost_usd, model_used }) => {
    return `${model_used ?? "a model"}: ${tokens_input} tokens in, ${tokens_output} out, ${formatUsd(cost_usd)}`;
  });
  const calls = callsOf({ reply, branches }).flatMap(({ name, arguments: given, refused, branch }) => {
    const end = branch?.entries.at(-1);
    const returned = refused ?? end?.error_message ?? end?.changes.set.text;
    const place = branch ? styled("dim", ` in ${branch.scope}`) : "";
    return [
      `${styled("cyan", "calls")} ${name}(${shorten(given)})${place}`,
      ...(returned ? [indent(shorten(returned))] : []),
    ];
  });
  return [
    ...section("asked", ai_metadata?.processed_prompt),
    ...spent,
    ...section("says", reply === undefined ? changes.set.text : reply.text),
    ...section("does not fit", reply?.unfit),
    ...section("the code failed, and the model continues", reply?.code_failed),
    ...calls,
  ];
}

/**
 * Returns the lines with the code of a node. If a loop runs the same code several times, only the first visit shows the
 * code.
 */
function codeSection(node: string, code: string | null | undefined, codes: Map<string, string>): string[] {
  if (!code) return [];
  if (codes.get(node) === code) return [`${styled("cyan", "code:")} as before`];
  codes.set(node, code);
  return section("code", code);
}

/** Formats only those keys of the context that the node has changed, because the other keys come from earlier nodes. */
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

/** Returns one line for each open node of a run. */
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
  const time = `since ${since} (${formatDuration(Math.max(0, nowMs - Date.parse(since)))})`;
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

/**
 * A line of the tree that a trace prints. `depth` is the number of branches that contain the line. `which` names the
 * visit of a node or the item of a map, if there are several. `title` is the heading of the lines that follow.
 */
export type TreeLine = { depth: number } & (
  | { entry: TraceEntry; which: string }
  | { visits: TraceEntry[] }
  | { title: string }
);

/**
 * The largest number of visits of a node in one scope, or of items of one map, for which the trace prints a line each.
 * More visits or items share one line.
 */
const maxUnfolded = 5;
const maxFailures = 20;

/** Builds the tree of a trace. `unfold` gives every visit and every item its own lines. */
export function buildTree(entries: readonly TraceEntry[], unfold: boolean, depth = 0): TreeLine[] {
  const visits = new Map<string, number>();
  const repeated = unfold ? new Map<string, TraceEntry[]>() : repeatedIn(entries);
  return entries.flatMap((entry): TreeLine[] => {
    const visit = (visits.get(entry.node_id) ?? 0) + 1;
    visits.set(entry.node_id, visit);
    const group = repeated.get(entry.node_id);
    const which = visit > 1 ? `(${visit})` : "";
    if (!group) return [{ depth, entry, which }, ...insideOf([entry], unfold, depth + 1)];
    return visit === 1 ? foldedLines(group, depth) : [];
  });
}

function repeatedIn(entries: readonly TraceEntry[]): Map<string, TraceEntry[]> {
  const groups = Map.groupBy(entries, ({ node_id }) => node_id);
  return new Map(Array.from(groups).filter(([, group]) => group.length > maxUnfolded));
}

function foldedLines(group: readonly TraceEntry[], depth: number): TreeLine[] {
  const [failed, others] = [group.filter(isFailure), group.filter((entry) => !isFailure(entry))];
  const shown = failed.slice(0, maxFailures);
  const rest = failed.slice(maxFailures);
  return [
    ...lineOf(others, depth),
    ...shown.map((entry): TreeLine => ({ depth, entry, which: whichOf(entry, group) })),
    ...lineOf(rest, depth),
    ...insideOf(group, false, depth + 1),
  ];
}

function whichOf(entry: TraceEntry, group: readonly TraceEntry[]): string {
  const [, item] = /\.(\d+)$/.exec(entry.scope) ?? [];
  return item === undefined ? `(${group.indexOf(entry) + 1})` : `(item ${item})`;
}

function lineOf(visits: TraceEntry[], depth: number): TreeLine[] {
  return visits.length > 0 ? [{ depth, visits }] : [];
}

function isFailure({ status }: TraceEntry): boolean {
  return status === "failed";
}

function insideOf(entries: readonly TraceEntry[], unfold: boolean, depth: number): TreeLine[] {
  const children = entries.flatMap(({ child }) => child ?? []);
  const branches = entries.flatMap((entry) => entry.branches ?? []);
  const [child, ...others] = children;
  if (child && others.length > 0)
    return [{ depth, title: `workflow ${child.workflow}: ${children.length} executions` }];
  if (child) {
    const title = `workflow ${child.workflow} version ${child.version}: ${child.execution_id}`;
    return [{ depth, title }, ...buildTree(child.entries ?? [], unfold, depth)];
  }
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  if (isMap && !unfold && branches.length > maxUnfolded) return foldedItems(branches, depth);
  const groups = Map.groupBy(branches, ({ scope, branch }) => (isMap ? scope : branch));
  return Array.from(groups.values()).flatMap((same) => {
    const [first] = same;
    const title = isMap ? `item ${first?.branch}${itemText(entries[0], first)}` : `branch ${first?.branch}`;
    const inside = same.flatMap((branch) => branch.entries);
    return [{ depth, title }, ...buildTree(inside, unfold, depth)];
  });
}

/** Formats the values with which an item of a map starts, for `--full`. These values are in the changes of no entry. */
function itemText(map: TraceEntry | undefined, item: TraceBranch | undefined): string {
  const [before, after] = [map?.output_result, item?.entries[0]?.input_context];
  if (!before || !after) return "";
  const known = new Set(membersOf(before.text).map(({ key, json }) => `${key}:${json}`));
  const given = membersOf(after.text).filter(({ key, json }) => key !== "index" && !known.has(`${key}:${json}`));
  return given.map(({ key, json }) => `, ${key} = ${shorten(json)}`).join("");
}

function foldedItems(branches: readonly TraceBranch[], depth: number): TreeLine[] {
  const ends = branches.flatMap(({ entries }) => entries.at(-1) ?? []).filter(({ path_taken }) => path_taken === null);
  const failed = ends.filter(isFailure).length;
  const done = ends.length === branches.length ? "" : `${ends.length}/`;
  const title = `${done}${branches.length} items${done && " done"}${failed > 0 ? `, ${failed} failed` : ""}`;
  const inside = branches.flatMap(({ entries }) => entries);
  const groups = Map.groupBy(inside, ({ node_id }) => node_id);
  return [{ depth, title }, ...Array.from(groups.values()).flatMap((group) => foldedLines(group, depth))];
}

/** Returns a short text for a table cell that says how a prompt node got its code; an empty text for other nodes. */
export function codeCell({ ai_metadata }: TraceEntry): string {
  if (!ai_metadata) return "";
  const { cache_hit, attempts, model } = ai_metadata;
  if (cache_hit) return "pinned, no model used";
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  return `by ${model ?? "a model"}${tries}, ${formatUsd(ai_metadata.cost_usd)}`;
}

/** Returns a short text for a table cell that says how a prompt node got its code in several visits. */
export function codeCellOf(visits: readonly TraceEntry[]): string {
  const written = visits.flatMap(({ ai_metadata }) => ai_metadata ?? []);
  if (written.length === 0) return "";
  const pinned = written.filter(({ cache_hit }) => cache_hit).length;
  const attempts = written.reduce((sum, { attempts: each, cache_hit }) => sum + (cache_hit ? 0 : each), 0);
  const cost = formatUsd(written.reduce((sum, { cost_usd }) => sum + cost_usd, 0));
  if (pinned === written.length) return `${pinned} pinned, no model used`;
  return `${pinned > 0 ? `${pinned} pinned, ` : ""}${attempts} attempts, ${cost}`;
}

/** Formats the cost and tokens of models in one line. */
export function spentText({ cost_usd, tokens_input, tokens_cached, tokens_output }: Spending): string {
  const cached = tokens_cached > 0 ? ` (${tokens_cached} of them cached)` : "";
  return `${formatUsd(cost_usd)}, ${tokens_input} tokens in${cached}, ${tokens_output} out`;
}

/**
 * Returns lines about the failures before the model wrote the right code. With `--full`, they also contain the prompt
 * and the answer of each step.
 */
export function writtenLines({ ai_metadata, steps }: TraceEntry): string[] {
  if (!ai_metadata || steps.length === 0) return [];
  const isFull = steps.some(({ prompt }) => prompt !== undefined);
  const notes = (ai_metadata.cost_notes ?? []).map((note) => styled("yellow", note));
  if (!isFull) {
    const errors = ai_metadata.errors.map(({ attempt, agent_name, error }) => {
      const who = attempt === 0 ? "pinned code" : `attempt ${attempt}`;
      return styled("yellow", `${who}, ${agent_name}: ${shorten(error ?? "failed")}`);
    });
    return [...errors, ...notes];
  }
  const header = ["attempt", "agent", "status", "time", "model", "tokens in", "cached", "out", "cost"];
  const table = tableLines(header, steps.map(stepRow)).map((line) => `  ${line}`);
  return [...table, ...notes, ...steps.flatMap(stepLines)];
}

function stepRow(step: TraceStep): string[] {
  const common = [String(step.attempt_number), step.agent_name, statusText(step.status)];
  const time = formatDuration(step.execution_time_ms);
  if (step.model_used === null) return [...common, time];
  const tokens = [step.tokens_input, step.tokens_cached, step.tokens_output].map(String);
  return [...common, time, step.model_used, ...tokens, formatUsd(step.cost_usd)];
}

function stepLines(step: TraceStep): string[] {
  const { attempt_number, agent_name, error_message, prompt, tool_calls, answer } = step;
  const parts = [
    ...section("prompt", prompt),
    ...section("searched", tool_calls.map((call) => JSON.stringify(call.arguments)).join("\n")),
    ...section("answer", answer),
    ...(error_message === null ? [] : [styled("red", `failed: ${error_message}`)]),
  ];
  if (parts.length === 0) return [];
  return [styled("bold", `  ${agent_name}, attempt ${attempt_number}`), ...parts.map((part) => indent(part))];
}
