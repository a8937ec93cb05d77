import { approveCommand, membersOf } from "@nova/engine";
import type { NodeEvent } from "@nova/local";
import type { Finding } from "@nova/workflow";
import { styled } from "../output/terminal.ts";
import { duration, shortened, statusText } from "../output/text.ts";
import { spentText } from "../output/written.ts";
import type { Ran } from "./follow.ts";
import type { OpenTask } from "./waiting-tasks.ts";

/** Characters: about two lines of a terminal; a map has its nodes in it for every item. */
const longestPath = 160;

const noCounters = { aws_calls: { dynamodb: 0, s3: 0, states: 0 }, sandbox_calls: 0, bytes_stored: 0 };

const unknownCounters = { aws_calls: null, sandbox_calls: null, bytes_stored: null };

/** What `nova run --json` prints, to be rendered with `renderJson`. What models have cost is there where they were asked. */
export function runResult({ execution, counters, path, context }: Ran) {
  const { id, workflowId, version, status, error, durationMs, nodes, spent, restartedFrom } = execution;
  return {
    execution_id: id,
    workflow: workflowId,
    version,
    ...(restartedFrom !== undefined && { restarted_from: restartedFrom }),
    status,
    context,
    path,
    error: error ?? null,
    stats: { duration_ms: durationMs ?? null, nodes: nodes ?? null, ...spent, ...(counters ?? unknownCounters) },
  };
}

/** The same for a run that never began. */
export function noRunResult(
  status: "invalid" | "failed" | "cancelled",
  error: { class: string; message: string },
  findings?: Finding[],
) {
  return {
    ...{ execution_id: null, workflow: null, version: null, status, context: null, path: [] },
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
  // A map has found its items: they come behind this line.
  if (count !== undefined) return `  ${styled("cyan", "»")} ${node}  ${count} ${count === 1 ? "item" : "items"}${item}`;
  const what = {
    ...{ started: styled("dim", node), waiting: `${node} waits`, failed: node },
    succeeded: message === "" ? node : `${node}  ${styled("dim", message)}`,
    // The message begins with the node.
    retrying: shortened(message, longestPath),
  };
  return `  ${marks[state]} ${what[state]}${item}`;
}

/** What a waiting run is asking for, and how to give it. */
export function taskLines(task: OpenTask): string[] {
  const { kind, message, node, execution } = task;
  const until = styled("dim", `until ${task.until}`);
  if (kind === "event") return [`    for an event, ${until}: nova emit --source ... --type ... sends one`];
  const asked = message.replaceAll(/^/gm, "    ");
  const asker = styled("dim", `${node} of ${execution},`);
  return [asked, `    ${styled("bold", approveCommand(task))}  ${asker} ${until}`];
}

function callsText({ aws_calls, sandbox_calls }: NonNullable<Ran["counters"]>): string {
  const calls = Object.entries(aws_calls).map(([service, count]) => `${service} ${count}`);
  return `${calls.join(", ")}, sandbox ${sandbox_calls}`;
}

/** A node that ran several times in a row, as in the items of a map, is named once. */
function pathText(path: readonly string[]): string {
  const begins = path.flatMap((node, index) => (node === path[index - 1] ? [] : [index]));
  const stretches = begins.map((index, at) => ({ node: path[index], times: (begins[at + 1] ?? path.length) - index }));
  return stretches.map(({ node, times }) => (times > 1 ? `${node} x ${times}` : node)).join(" → ");
}

export function runLines({ execution, path, context, counters }: Ran): string[] {
  const { id, workflowId, version, status, error, durationMs, spent } = execution;
  const values = membersOf(context.text).map(({ key, json }) => `  ${styled("cyan", key)} ${shortened(json)}`);
  return [
    `${statusText(status)} ${workflowId} version ${version}${durationMs === undefined ? "" : ` in ${duration(durationMs)}`}`,
    styled("dim", `  ${shortened(pathText(path), longestPath)}`),
    ...values,
    ...(error ? [styled("red", `  node "${error.node}" (${error.class}): ${error.message}`)] : []),
    ...(status === "waiting" || status === "running"
      ? [`  it goes on with what it waits for: nova trace ${id} says what that is`]
      : []),
    ...(spent ? [styled("dim", `  models: ${spentText(spent)}`)] : []),
    ...(counters ? [styled("dim", `  calls: ${callsText(counters)}`)] : []),
    `  nova trace ${id}`,
  ];
}
