import { headOf } from "../chain/head.ts";
import type { Link } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/**
 * Between a result and its commit the sandbox may die and the turn (of a node with `effects: false`) move to another
 * one, where the code begins again; then the entry names one sandbox and the turn another. Whoever goes on from an
 * entry kills the one that nobody waits for. Nothing begins there later: a delivery that moved the turn reads again
 * before it runs.
 */
export async function killOvertaken(ports: Ports, { entry, turn }: Link): Promise<void> {
  if (!entry || !turn?.sandbox) return;
  if (headOf(entry).sandbox_id !== turn.sandbox) await ports.sandboxes.kill(turn.sandbox);
}
