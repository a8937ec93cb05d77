import { readPosition } from "../chain/position.ts";
import type { LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { closed, committedEntry } from "./answer.ts";
import { definitionOf } from "./definition.ts";
import type { NodeEvent } from "./event.ts";
import { killOvertaken } from "./held-turn.ts";
import type { Reason, SettlingPorts } from "./settling.ts";

/** The entry at the node's link once it is settled: there already, a kept result, or a failed one for `reason`. */
export async function settledEntry(ports: SettlingPorts, event: NodeEvent, reason: Reason): Promise<StoredEntry> {
  const at: LinkId = { execution: event.execution.id, scope: event.scope, seq: event.seq + 1 };
  const definition = await definitionOf(ports, event);
  for (;;) {
    const position = await readPosition(ports, at);
    const entry = committedEntry(position, event);
    await killOvertaken(ports, position.next);
    if (entry) return entry;
    const { turn } = position.next;
    if (turn?.state === "closed") throw closed(at.execution);
    const failing = turn?.state === "failing" ? turn : await markFailing(ports, at, turn, event.node);
    if (failing) return ports.settleTurn(ports, position, definition, failing, reason);
  }
}

/** Null when the turn changed meanwhile: read again. */
export async function markFailing(
  ports: Ports,
  at: LinkId,
  turn: Turn | undefined,
  node: string,
): Promise<Turn | null> {
  const since = new Date(ports.clock.now()).toISOString();
  const failing: Turn = turn
    ? { ...turn, state: "failing" }
    : { node, state: "failing", sandbox: null, attempt: 1, since };
  return (await ports.chain.putTurn(at, failing, turn ?? null)) ? failing : null;
}
