import { type ApprovalNode, onlyPath, RawJson, textOfJson, timeOf, type WaitNode } from "@nova/workflow";
import { headOf, unlessErased } from "../../chain/entry.ts";
import { taskId } from "../../chain/ids.ts";
import { inputBefore, type Position, readPosition } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import type { EntryId, StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitFailure, commitOutcome } from "../../protocol/commit.ts";
import { defaultNext, type KindPorts, type NodeDefinition } from "../../protocol/definition.ts";
import type { RunPosition, TaskAnswer, WaitEvent } from "../../protocol/event.ts";
import { buildSuccess, factsWithoutCode } from "../../protocol/outcome.ts";
import { markWaiting, refreshStatus } from "../../protocol/record.ts";
import { acquireTurn } from "../../protocol/turn.ts";
import { releaseSandboxes } from "../../sandboxes/life.ts";
import { cutMark } from "../../secrets/redactor.ts";
import { redactorAt } from "../../secrets/secret-inputs.ts";
import { isWaitingNode, type WaitsFor } from "./waiting-task.ts";

/**
 * The longest wait during which the scope keeps its sandbox. During a longer wait, the run has the status `waiting`.
 */
const keptWarmMs = 60_000;

/**
 * The answer of the first task of a wait. Step Functions pauses until the time in this answer. The chain has only the
 * turn of the wait so far.
 */
export interface WaitAnswer extends RunPosition {
  /** A time in ISO 8601. */
  until: string;
}

/** Runs a wait for a time. The first task writes the turn and returns the time. The second task writes the entry. */
export async function runWait(ports: KindPorts, event: WaitEvent, definition: NodeDefinition<WaitNode>) {
  const { node } = definition;
  for (;;) {
    const place = await acquireTurn(ports, event);
    if (place.entry) return answerEntry(ports, event, place.entry);
    const { position, turn } = place;
    const until = await untilFor(ports, position, definition, node, turn);
    if ("problem" in until) {
      await commitFailure(ports, { ...definition, position, turn }, until.problem);
      continue;
    }
    const isLong = until.ms - Date.parse(turn.since) > keptWarmMs;
    if (event.waited) {
      const facts = factsWithoutCode(ports, turn, isLong ? undefined : position.before);
      await commitOutcome(ports, position, node, buildSuccess(defaultNext(definition), facts));
    } else if (!isLong || (await beginLongWait(ports, position))) return pauseUntil(event, until.ms);
  }
}

/**
 * Marks the run as waiting and releases the sandboxes of its scope. Returns false if the node has an outcome already.
 */
async function beginLongWait(ports: Ports, { at, before }: Position): Promise<boolean> {
  await markWaiting(ports, at.execution);
  const { entry } = await ports.chain.read(at);
  if (entry) await refreshStatus(ports, at.execution);
  else await releaseSandboxes(ports, before);
  return !entry;
}

/**
 * Builds the answer for a node that has an entry. A late delivery of the first task gets a time in the past, so that
 * Step Functions does not pause again.
 */
async function answerEntry(ports: Ports, event: WaitEvent, entry: StoredEntry): Promise<TaskAnswer | WaitAnswer> {
  const answer = await answerFor(entry, event, ports);
  const head = headOf(entry);
  if (!event.waited) return pauseUntil(event, Date.parse(head.timestamp));
  if (head.execution_time_ms > keptWarmMs) await refreshStatus(ports, head.execution_id);
  return answer;
}

function pauseUntil({ execution, scope, seq }: WaitEvent, ms: number): WaitAnswer {
  return { execution, scope, seq, until: new Date(ms).toISOString() };
}

async function untilFor(ports: Ports, position: Position, { version }: NodeDefinition, node: WaitNode, turn: Turn) {
  const { input } = await inputBefore(ports, position);
  const until = untilOf(node, input, Date.parse(turn.since));
  if (!("problem" in until)) return until;
  const redactor = await redactorAt(ports, position.before, version, input);
  return { problem: redactor.mask(until.problem) };
}

type Until = { ms: number } | { problem: string };

/** The longest wait: Step Functions ends an execution after a year. */
const longestMs = 366 * 24 * 3600 * 1000;

/** Computes the end of a wait whose turn started at `sinceMs`. Every delivery computes the same time. */
function untilOf(node: WaitNode, input: Context, sinceMs: number): Until {
  if (node.for.kind === "seconds") return { ms: sinceMs + node.for.seconds * 1000 };
  if (node.for.kind === "event") return { problem: "it waits for an event and has no time" };
  const path = onlyPath(node.for.until);
  const json = path === undefined ? JSON.stringify(node.for.until) : input.get(path);
  if (json === undefined)
    return { problem: `it waits until {{${path}}}, which the context does not have - set it before` };
  return momentOf(json, sinceMs);
}

function momentOf(json: string, sinceMs: number): Until {
  const value: unknown = JSON.parse(json);
  const ms = typeof value === "string" ? timeOf(value) : undefined;
  if (ms === undefined) {
    const shown = json.length > 80 ? `${json.slice(0, 75)}${cutMark}` : json;
    return { problem: `${shown} is no time to wait until - write it with its zone, as "2026-01-31T12:00:00Z"` };
  }
  if (ms - sinceMs > longestMs) return { problem: `${json} is more than a year away - a run lives a year at most` };
  return { ms };
}

/** Describes an approval or a wait; null if it has no task yet. */
export async function describeWait(
  ports: Ports,
  node: ApprovalNode | WaitNode,
  at: EntryId,
  turn: Turn,
): Promise<WaitsFor | null> {
  if (!isWaitingNode(node)) return { kind: "time", until: await endOf(ports, node, at, turn) };
  const id = taskId(at, turn.since);
  const task = await ports.tasks.get({ execution: at.execution, id });
  if (!task) return null;
  const common = { until: task.expiresAt, task_id: id };
  // The pattern keeps the digits of its bound values.
  const pattern = task.pattern === undefined ? null : new RawJson(textOfJson(task.pattern));
  if (task.kind === "event") return { kind: "event", ...common, pattern };
  return { kind: "approval", ...common, message: task.message, choices: task.choices };
}

async function endOf(ports: Ports, node: WaitNode, at: EntryId, { since }: Turn): Promise<string | null> {
  const position = await readPosition(ports, at);
  const found = await unlessErased(() => inputBefore(ports, position));
  if (!found) return null;
  const until = untilOf(node, found.input, Date.parse(since));
  return "ms" in until ? new Date(until.ms).toISOString() : null;
}
