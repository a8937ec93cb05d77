import { timeoutLabel } from "@nova/workflow";
import { headOf } from "../../chain/entry.ts";
import { taskId } from "../../chain/ids.ts";
import type { Position } from "../../chain/position.ts";
import { recoverFrom } from "../../errors.ts";
import type { EntryId, StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import {
  definitionOf,
  followChoice,
  type HeldNode,
  type KindPorts,
  type NodeDefinition,
  type Reason,
} from "../../protocol/definition.ts";
import { endless, type TimeBudget } from "../../protocol/end-runs.ts";
import { eventOf, type NodeEvent } from "../../protocol/event.ts";
import { buildFailure, factsWithoutCode, type Outcome, type OutcomeFacts } from "../../protocol/outcome.ts";
import { refreshStatus } from "../../protocol/record.ts";
import { acquireTurn } from "../../protocol/turn.ts";
import { releaseSandboxes } from "../../sandboxes/life.ts";
import { finishVotes } from "./cast-vote.ts";
import { takeCalled } from "./resume.ts";
import { decidedOutcome, endVotes, factsAfterVotes } from "./votes.ts";
import { choiceOutcome, isWaitingNode, sendAnswer, termsOf, waitingDetail } from "./waiting-task.ts";

/**
 * For this time after an answer or a timeout, the sweeper leaves a task to the process that answered, or to Step
 * Functions.
 */
const graceMs = 60_000;

export interface SweptTasks {
  sent: string[];
  /** Tasks that are open again because their answer never reached the chain. */
  reopened: string[];
  expired: string[];
  failed: { id: string; reason: string }[];
}

export function noTasks(): SweptTasks {
  return { sent: [], reopened: [], expired: [], failed: [] };
}

/** Sends unsent answers, and ends tasks that are overdue or whose run has ended. */
export async function sweepTasks(
  ports: KindPorts,
  openExecutions: ReadonlySet<string> | undefined,
  timeBudget: TimeBudget = endless,
): Promise<SweptTasks> {
  const swept = noTasks();
  for await (const task of ports.tasks.pending()) {
    if (timeBudget.aborted) break;
    await remind(ports, task);
    if (!needsLook(task, openExecutions, ports.clock.now())) continue;
    try {
      const what = await sweepTask(ports, task);
      if (what) swept[what].push(task.id);
    } catch (error) {
      swept.failed.push({ id: task.id, reason: String(error) });
    }
  }
  return swept;
}

/**
 * Publishes the event of a waiting approval again when a reminder is due. If several reminders are due, this function
 * publishes only one event. If the process dies before it has noted the reminder, the next sweep publishes the event
 * again, and the receiver of the event recognises the repetition.
 */
async function remind(ports: Ports, task: WaitingTask): Promise<void> {
  const now = ports.clock.now();
  const { remindSeconds = [], reminded = 0, status, expiresAt, createdAt } = task;
  const due = remindSeconds.filter((seconds) => Date.parse(createdAt) + seconds * 1000 <= now).length;
  if (due <= reminded || status !== "open" || Date.parse(expiresAt) <= now) return;
  await ports.events.publish("execution.waiting", { ...waitingDetail(ports, task), reminder: due });
  await ports.tasks.noteReminded(task, due);
}

function needsLook(task: WaitingTask, openExecutions: ReadonlySet<string> | undefined, nowMs: number): boolean {
  if (task.status === "answered") return nowMs - Date.parse(task.answeredAt ?? task.createdAt) > graceMs;
  const isOverdue = nowMs - Date.parse(task.expiresAt) > graceMs;
  const isOver = openExecutions?.has(task.execution) === false;
  return isOverdue || (isOver && nowMs - Date.parse(task.createdAt) > graceMs);
}

async function sweepTask(ports: KindPorts, task: WaitingTask): Promise<"sent" | "reopened" | "expired" | null> {
  const { execution, scope, seq } = task;
  const { entry, turn } = await ports.chain.read({ execution, scope, seq });
  if (entry || turn?.state !== "held") return follow(ports, task, entry);
  if (Date.parse(task.expiresAt) + graceMs < ports.clock.now()) return expire(ports, task);
  if (task.status !== "answered") return null;
  if (await takeCalled(ports, task)) return "sent";
  if (task.approvers && (await finishVotes(ports, task))) return "sent";
  await ports.tasks.move(task, ["answered"], "open");
  await refreshStatus(ports, execution);
  return "reopened";
}

/**
 * Sends the answer of a task if an answer produced the entry of the task. Otherwise marks the task as expired. Call
 * this function after the entry was written, or when no answer can produce an entry any more.
 */
async function follow(ports: Ports, task: WaitingTask, entry: StoredEntry | undefined): Promise<"sent" | "expired"> {
  const head = entry && headOf(entry);
  const isAnswered = head?.status === "success" && head.node_id === task.node;
  if (entry && isAnswered) await sendAnswer(ports, task, entry);
  else await ports.tasks.move(task, ["open", "answered"], "expired");
  await refreshStatus(ports, task.execution);
  return isAnswered ? "sent" : "expired";
}

async function expire(ports: KindPorts, task: WaitingTask): Promise<"sent" | "expired"> {
  const entry = await expiredEntry(ports, eventOf(task)).catch(recoverFrom("ExecutionClosed", () => undefined));
  if (!entry) await ports.tasks.move(task, ["open", "answered"], "expired");
  else if (headOf(entry).status === "success") await sendAnswer(ports, task, entry);
  return "expired";
}

/**
 * Returns the entry of a task whose time is over (docs/protocol.md, case k). If an answer is already recorded, that
 * answer counts. Throws `ExecutionClosed` if the run was closed.
 */
export async function expiredEntry(ports: KindPorts, event: NodeEvent): Promise<StoredEntry> {
  const place = await acquireTurn(ports, event);
  if (place.entry) return place.entry;
  const { position, turn } = place;
  const definition = await definitionOf(ports, event);
  const { outcome, isDecided } = await outcomeAtEnd(ports, { ...definition, position, turn }, "timeout", (facts) =>
    timedOut(ports, facts, definition, position),
  );
  const entry = await commitOutcome(ports, position, definition.node, outcome);
  if (isDecided) return entry;
  await dropTask(ports, position.at, turn);
  return entry;
}

/** Marks the task of a turn as expired, because no answer produced the entry. */
async function dropTask(ports: Ports, at: EntryId, turn: Turn): Promise<void> {
  await ports.tasks.move({ execution: at.execution, id: taskId(at, turn.since) }, ["open", "answered"], "expired");
  await refreshStatus(ports, at.execution);
}

/**
 * Returns the outcome of a node that got no answer in time. This function first ends the voting on an approval. If the
 * votes have decided, their outcome counts. Otherwise `build` builds the outcome.
 */
async function outcomeAtEnd(ports: Ports, held: HeldNode, reason: string, build: (facts: OutcomeFacts) => Outcome) {
  const { node, position, turn } = held;
  const facts = factsWithoutCode(ports, turn);
  if (node.type !== "approval" || !node.approvers) return { outcome: build(facts), isDecided: false };
  const votes = await endVotes(ports, position, node, reason);
  const decided = decidedOutcome(ports, { ...held, node }, position, votes);
  return { outcome: decided ?? build(factsAfterVotes(facts, votes)), isDecided: decided !== undefined };
}

function timedOut(ports: Ports, facts: OutcomeFacts, definition: NodeDefinition, position: Position): Outcome {
  const { node } = definition;
  const way = node.type === "approval" ? followChoice(definition, timeoutLabel, position.before.loops) : undefined;
  if (node.type === "approval" && way) {
    const at = new Date(ports.clock.now()).toISOString();
    const json = JSON.stringify({ choice: timeoutLabel, data: null, by: null, at, from: null });
    return choiceOutcome(way, { key: node.into, json }, facts);
  }
  const seconds = isWaitingNode(node) ? termsOf(node).timeoutSeconds : 0;
  const what = node.type === "approval" ? "no answer came" : "no event came that fits";
  return buildFailure(definition, { class: "NodeTimeout", message: `${what} within ${seconds} seconds` }, facts);
}

/** Writes the failed entry of an approval or a wait, and removes its task from the list of open tasks. */
export async function settleWaiting(ports: Ports, held: HeldNode, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const { outcome } = await outcomeAtEnd(ports, held, reason.class, (facts) => buildFailure(held, reason, facts));
  const entry = await commitOutcome(ports, position, node, outcome);
  await releaseSandboxes(ports, position.before);
  await dropTask(ports, position.at, turn);
  return entry;
}
