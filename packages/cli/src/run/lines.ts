import { formatDuration } from "@nova/client";
import { approveCommand, membersOf } from "@nova/engine";
import type { NodeEvent } from "@nova/local";
import type { Finding } from "@nova/workflow";
import { styled } from "../output/terminal.ts";
import { shorten, statusText } from "../output/text.ts";
import { spentText } from "../output/trace.ts";
import type { EndedRun, OpenTask } from "./follow.ts";

/**
 * The maximum number of characters of a printed path, about two lines of a terminal. The path of a run through a map
 * can be longer, because the path contains the nodes of every item.
 */
const longestPath = 160;

const noCounters = { aws_calls: { dynamodb: 0, s3: 0, states: 0 }, sandbox_calls: 0, bytes_stored: 0 };

const unknownCounters = { aws_calls: null, sandbox_calls: null, bytes_stored: null };

/**
 * Builds the result of `nova run --json`, for `renderJson`. The result contains the cost of models if the run used a
 * model.
 */
export function runResult({ counters, duration_ms, nodes, spent, restarted_from, ...run }: EndedRun) {
  const { execution_id, workflow, version, status, context, path, error } = run;
  return {
    execution_id,
    workflow,
    version,
    ...(restarted_from !== null && { restarted_from }),
    status,
    context,
    path,
    error,
    stats: { duration_ms, nodes, ...spent, ...(counters ?? unknownCounters) },
  };
}

/** Builds the result of a run that did not start. */
export function noRunResult(
  status: "invalid" | "failed" | "cancelled",
  error: { class: string; message: string },
  findings?: Finding[],
) {
  return {
    execution_id: null,
    workflow: null,
    version: null,
    status,
    context: null,
    path: [],
    error: { node: null, ...error },
    stats: { duration_ms: 0, nodes: 0, ...noCounters },
    ...(findings && { diagnostics: findings }),
  };
}

export function eventLine({ node, items = [], state, count, message = "" }: NodeEvent): string {
  const marks = {
    started: styled("dim", "·"),
    waiting: styled("yellow", "…"),
    retrying: styled("yellow", "↻"),
    succeeded: styled("green", "✓"),
    failed: styled("red", "✗"),
  };
  const item = items.length > 0 ? styled("dim", `  item ${items.join(", ")}`) : "";
  // The node is a map. The lines of its items come after this line.
  if (count !== undefined) return `  ${styled("cyan", "»")} ${node}  ${count} ${count === 1 ? "item" : "items"}${item}`;
  const what = {
    started: styled("dim", node),
    waiting: `${node} waits`,
    failed: node,
    succeeded: message === "" ? node : `${node}  ${styled("dim", message)}`,
    // The line does not repeat the name of the node, because the message starts with the name.
    retrying: shorten(message, longestPath),
  };
  return `  ${marks[state]} ${what[state]}${item}`;
}

/** Describes a task of a waiting run, and how to answer it. */
export function taskLines(task: OpenTask): string[] {
  const { kind, message, node, execution } = task;
  const until = styled("dim", `until ${task.until}`);
  if (kind === "event") return [`    for an event, ${until}: nova emit --source ... --type ... sends one`];
  const asked = message.replaceAll(/^/gm, "    ");
  const asker = styled("dim", `${node} of ${execution},`);
  return [asked, `    ${styled("bold", approveCommand(task))}  ${asker} ${until}`];
}

function callsText({ aws_calls, sandbox_calls }: NonNullable<EndedRun["counters"]>): string {
  const calls = Object.entries(aws_calls).map(([service, count]) => `${service} ${count}`);
  return `${calls.join(", ")}, sandbox ${sandbox_calls}`;
}

/**
 * Joins the nodes of a path. If the same node ran several times in a row, as in the items of a map, its name appears
 * once, with the number of runs.
 */
function pathText(path: readonly string[]): string {
  const begins = path.flatMap((node, index) => (node === path[index - 1] ? [] : [index]));
  const stretches = begins.map((index, at) => ({ node: path[index], times: (begins[at + 1] ?? path.length) - index }));
  return stretches.map(({ node, times }) => (times > 1 ? `${node} x ${times}` : node)).join(" → ");
}

export function runLines({ execution_id: id, path, context, counters, duration_ms: ms, ...run }: EndedRun): string[] {
  const { workflow, version, status, error, spent } = run;
  const values = membersOf(context.text).map(({ key, json }) => `  ${styled("cyan", key)} ${shorten(json)}`);
  return [
    `${statusText(status)} ${workflow} version ${version}${ms === null ? "" : ` in ${formatDuration(ms)}`}`,
    styled("dim", `  ${shorten(pathText(path), longestPath)}`),
    ...values,
    ...(error ? [styled("red", `  node "${error.node}" (${error.class}): ${error.message}`)] : []),
    ...(status === "waiting" || status === "running"
      ? [`  it continues after what it waits for: nova trace ${id} shows it`]
      : []),
    ...(spent ? [styled("dim", `  models: ${spentText(spent)}`)] : []),
    ...(counters ? [styled("dim", `  calls: ${callsText(counters)}`)] : []),
    `  nova trace ${id}`,
  ];
}

/**
 * The largest number of items of a map for which the command prints a line per node. For a map with more items, it
 * prints progress lines.
 */
const maxToldApart = 5;
const everyMs = 1_000;

interface MapState {
  count: number;
  /** The last event of each item, by the number of the item. */
  states: Map<number, NodeEvent["state"]>;
  told: string;
  failuresTold: number;
}

/** Prints how many items of a map are done, at most once a second, instead of a line for every node of every item. */
export class MapProgress {
  readonly #say: (execution: string, line: string) => void;
  /** The states of open maps, by execution and map. */
  readonly #maps = new Map<string, Map<string, MapState>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (execution: string, line: string) => void) {
    this.#say = say;
  }

  /** Notes an event. Returns true if the progress line replaces the line of this event. */
  absorb(execution: string, { node, state, items, map, count }: NodeEvent): boolean {
    if (count !== undefined && count > maxToldApart && items === undefined) this.#begin(execution, node, count);
    // If a node after the map starts, the final progress of the map is printed before the line of this node.
    if (items === undefined && state === "started") this.#tell(execution);
    const going = map === undefined ? undefined : this.#maps.get(execution)?.get(map);
    const [item] = items ?? [];
    if (!going || item === undefined) return false;
    going.states.set(item, state);
    this.#timer ??= setTimeout(() => this.#tellAll(), everyMs).unref();
    return state !== "waiting" && (state !== "failed" || going.failuresTold++ >= maxToldApart);
  }

  end(execution: string): void {
    this.#tell(execution);
    this.#maps.delete(execution);
  }

  #begin(execution: string, node: string, count: number): void {
    const maps = this.#maps.get(execution) ?? new Map<string, MapState>();
    this.#maps.set(execution, maps.set(node, { count, states: new Map(), told: "", failuresTold: 0 }));
  }

  #tellAll(): void {
    this.#timer = undefined;
    for (const execution of this.#maps.keys()) this.#tell(execution);
  }

  #tell(execution: string): void {
    for (const [node, going] of this.#maps.get(execution) ?? []) {
      const { count, states, told } = going;
      // An item counts as done when one of its nodes has ended and no further node of the item has started.
      const done = states.values().filter((state) => state === "succeeded" || state === "failed");
      const failed = states.values().filter((state) => state === "failed");
      const [doneCount, failedCount] = [Array.from(done).length, Array.from(failed).length];
      const text = `${node} ${doneCount}/${count}${failedCount > 0 ? `, ${failedCount} failed` : ""}`;
      if (text !== told) this.#say(execution, `  ${styled("cyan", "»")} ${text}`);
      going.told = text;
    }
  }
}
