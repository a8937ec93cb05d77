import type { TaskNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { noStep } from "../task/stop-code.ts";
import { stopTurn } from "../task/stopped-turn.ts";
import { stoppedOutcome } from "./stopped.ts";

/** The node has failed, with the steps that were recorded: no claim answers for it. */
export async function settlePrompt(
  ports: SettlingPorts,
  position: Position,
  definition: NodeDefinition & { node: TaskNode },
  turn: Turn,
  reason: Reason,
): Promise<StoredEntry> {
  const { kept, warm, logs, reason: why } = await stopTurn(ports, position, definition, { turn, reason, step: noStep });
  const outcome = await stoppedOutcome(ports, position, definition, turn, { reason: why, warm, logs });
  return commitOutcome(ports, position, definition.node, outcome, kept);
}
