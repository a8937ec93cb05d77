import type { Position } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { closed } from "./answer.ts";

/** Somebody is failing or closing this link, or the turn is another node's: nothing may begin. */
export function refuseForeignTurn({ at, next: { turn } }: Position, node: string): void {
  if (!turn) return;
  if (turn.state !== "held") throw closed(at.execution);
  if (turn.node !== node) {
    throw new NovaError(
      "ChainBroken",
      `the turn at link ${at.seq} of ${at.execution} is held by "${turn.node}", not by "${node}"`,
    );
  }
}

/**
 * The turn of a node that runs no code: it names no sandbox, so every delivery may hold it. Null when somebody else
 * wrote one meanwhile: read again. Throws `ExecutionClosed`, `ChainBroken`.
 */
export async function holdTurn(ports: Ports, position: Position, node: string): Promise<Turn | null> {
  refuseForeignTurn(position, node);
  if (position.next.turn) return position.next.turn;
  const since = new Date(ports.clock.now()).toISOString();
  const taken: Turn = { node, state: "held", sandbox: null, attempt: 1, since };
  return (await ports.chain.putTurn(position.at, taken, null)) ? taken : null;
}
