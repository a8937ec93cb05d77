import { latestPosition, type Position } from "../chain/position.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { committedEntry } from "./answer.ts";
import { linkBehind, type NodeEvent } from "./event.ts";
import { killOvertaken, refuseForeignTurn } from "./held-turn.ts";

/**
 * The entry at a node's link: a committed one, and nothing runs; else what one pass of `produce` comes to, or the turn
 * that it leaves for later. `"again"` reads the chain anew: somebody else was faster.
 */
export async function producedEntry<Left extends StoredEntry | Turn>(
  ports: Ports,
  event: NodeEvent,
  produce: (position: Position) => Promise<Left | "again">,
): Promise<Left | StoredEntry> {
  for (;;) {
    const position = await latestPosition(ports, linkBehind(event));
    const committed = committedEntry(position, event);
    if (!committed) refuseForeignTurn(position, event.node);
    const entry = committed ?? (await produce(position));
    await killOvertaken(ports, position.next);
    if (entry !== "again") return entry;
  }
}
