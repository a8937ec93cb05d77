import { type Position, readPosition } from "../chain/position.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { committedEntry } from "./answer.ts";
import { linkBehind, type NodeEvent } from "./event.ts";
import { holdTurn } from "./held-turn.ts";

/** What a node that waits has at its link: the outcome, or the right to produce it. */
export type EntryOrTurn = { entry: StoredEntry } | { entry?: never; position: Position; turn: Turn };

/** Reads the node's place, and takes the turn where there is neither. Throws `ExecutionClosed`, `ChainBroken`. */
export async function entryOrTurn(ports: Ports, event: NodeEvent): Promise<EntryOrTurn> {
  for (;;) {
    const position = await readPosition(ports, linkBehind(event));
    const entry = committedEntry(position, event);
    if (entry) return { entry };
    const turn = await holdTurn(ports, position, event.node);
    if (turn) return { position, turn };
  }
}

/** The sandbox of the scope does not wait with it: no code of the scope runs meanwhile, the next node makes a new one. */
export async function letGo(ports: Pick<Ports, "sandboxes">, warm: Sandbox | null): Promise<void> {
  if (warm) await ports.sandboxes.kill(warm.id);
}
