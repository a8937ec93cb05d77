import type { RunErrorClass } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import { dropTask } from "./expire.ts";
import { failed } from "./outcomes.ts";

/** Gives the turn of a node that runs no code its failed entry, and takes its task off the list. */
export async function settleWaiting(
  ports: Ports,
  position: Position,
  definition: NodeDefinition,
  turn: Turn,
  reason: { class: RunErrorClass; message: string },
): Promise<StoredEntry> {
  const outcome = failed(definition, reason, { turn, nowMs: ports.clock.now() });
  const entry = await commitOutcome(ports, position, definition.node, outcome);
  await dropTask(ports, position.at, turn);
  return entry;
}
