import type { WorkflowNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { failed } from "../waiting/outcomes.ts";
import { childOf } from "./begin-child.ts";
import { childOutcome } from "./child-outcome.ts";

/**
 * Gives the turn of a workflow node its entry, once the execution that it runs has ended, of itself or stopped. Whoever
 * would make that execution later finds this turn, and goes no further.
 */
export async function settleChild(
  ports: SettlingPorts,
  position: Position,
  definition: NodeDefinition & { node: WorkflowNode },
  turn: Turn,
  reason: Reason,
): Promise<StoredEntry> {
  const { node } = definition;
  const child = await childOf(ports, position.at, turn);
  const times = { turn, nowMs: ports.clock.now(), warm: position.before.warm };
  if (!child) return commitOutcome(ports, position, node, failed(definition, reason, times));
  const closed = await ports.endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  const outcome = await childOutcome(ports, { position, definition, node, turn }, child, closed, reason);
  return commitOutcome(ports, position, node, outcome);
}
