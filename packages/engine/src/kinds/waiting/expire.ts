import { timeoutLabel } from "@nova/workflow";
import { taskId } from "../../chain/link-name.ts";
import type { Position } from "../../chain/position.ts";
import type { LinkId, StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { definitionOf, followChoice, type HeldNode, type NodeDefinition } from "../../protocol/definition.ts";
import type { NodeEvent } from "../../protocol/event.ts";
import { codeless, failed, type Outcome } from "../../protocol/outcome.ts";
import type { KindPorts, Reason } from "../../protocol/settling.ts";
import { refreshStatus } from "../../protocol/status.ts";
import { acquireTurn } from "../../protocol/turn.ts";
import { releaseSandboxes } from "../../sandboxes/life.ts";
import { chosen, isWaitingNode, termsOf } from "./waiting-node.ts";

/** Handles the timeout of a task (protocol, case k): a recorded answer counts. Throws `ExecutionClosed`. */
export async function expiredEntry(ports: KindPorts, event: NodeEvent): Promise<StoredEntry> {
  const place = await acquireTurn(ports, event);
  if (place.entry) return place.entry;
  const { position, turn } = place;
  const definition = await definitionOf(ports, event);
  const outcome = timedOut(ports, definition, position, turn);
  const entry = await commitOutcome(ports, position, definition.node, outcome);
  await dropTask(ports, position.at, turn);
  return entry;
}

/** Marks the task of a link as expired: its turn has an entry that no answer made. */
async function dropTask(ports: Ports, at: LinkId, turn: Turn): Promise<void> {
  await ports.tasks.move({ execution: at.execution, id: taskId(at, turn.since) }, ["open", "answered"], "expired");
  await refreshStatus(ports, at.execution);
}

function timedOut(ports: Ports, definition: NodeDefinition, position: Position, turn: Turn): Outcome {
  const facts = codeless(ports, turn);
  const { node } = definition;
  const way = node.type === "approval" ? followChoice(definition, timeoutLabel, position.before.loops) : undefined;
  if (node.type === "approval" && way) {
    const at = new Date(ports.clock.now()).toISOString();
    const json = JSON.stringify({ choice: timeoutLabel, data: null, by: null, at, from: null });
    return chosen(way, { key: node.into, json }, facts);
  }
  const seconds = isWaitingNode(node) ? termsOf(node).timeoutSeconds : 0;
  const what = node.type === "approval" ? "no answer came" : "no event came that fits";
  return failed(definition, { class: "NodeTimeout", message: `${what} within ${seconds} seconds` }, facts);
}

/** Writes the failed entry for the turn of a node that runs no code, and removes its task from the list. */
export async function settleWaiting(ports: Ports, held: HeldNode, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const entry = await commitOutcome(ports, position, node, failed(held, reason, codeless(ports, turn)));
  await releaseSandboxes(ports, position.before);
  await dropTask(ports, position.at, turn);
  return entry;
}
