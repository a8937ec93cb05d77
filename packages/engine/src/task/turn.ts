import type { Position } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import { closed } from "../node/answer.ts";
import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";

/**
 * The turn of a node that runs no code: it names no sandbox, so every delivery may hold it. Null when somebody else
 * wrote one meanwhile: read again. Throws `ExecutionClosed`, `ChainBroken`.
 */
export async function holdTurn(ports: Ports, { at, next: { turn } }: Position, node: string): Promise<Turn | null> {
  if (!turn) {
    const since = new Date(ports.clock.now()).toISOString();
    const taken: Turn = { node, state: "held", sandbox: null, attempt: 1, since };
    return (await ports.chain.putTurn(at, taken, null)) ? taken : null;
  }
  if (turn.state !== "held") throw closed(at.execution);
  if (turn.node !== node) {
    throw new NovaError(
      "ChainBroken",
      `the turn at link ${at.seq} of ${at.execution} is held by "${turn.node}", not by "${node}"`,
    );
  }
  return turn;
}

/** The sandbox of the scope does not wait with it: no code of the scope runs meanwhile, the next node makes a new one. */
export async function letGo(ports: Pick<Ports, "sandboxes">, warm: Sandbox | null): Promise<void> {
  if (warm) await ports.sandboxes.kill(warm.id);
}
