import { atOnce } from "../at-once.ts";
import type { Position } from "../chain/position.ts";
import { forkBehind, hasBegun, type OpenFork, readTip, type Tip } from "./branches.ts";
import { definitionOf } from "./definition.ts";
import { killOvertaken, putState } from "./held-turn.ts";
import { settleJoin } from "./settle-join.ts";
import type { Reason, SettlingPorts } from "./settling.ts";

/** The node id of a close entry and of a turn that a closer took; no node can have it. */
export const closeMark = "(close)";

/** What the entries say of nodes that a close stops. */
export interface CloseReasons {
  /** Of what is under way in the scope itself. */
  here: Reason;
  /** Of what is under way in branches. */
  inside: Reason;
}

/**
 * One step of a close (protocol, Close): takes the turn behind a tip for good, in the branches of a fork too, begun or
 * not, and gives whatever was under way its entry, innermost first. Null: the tip has moved, read it again. Else
 * nothing is under way behind it and nothing can begin: on the main line this is where the close entry goes.
 */
export async function closeBehind(ports: SettlingPorts, tip: Tip, reasons: CloseReasons): Promise<Position | null> {
  await killOvertaken(ports, tip.link);
  const isClosed = tip.turn?.state === "closed";
  const turn = isClosed ? tip.turn : await putState(ports, tip.next, tip.turn, closeMark, "closed");
  if (!turn) return null;
  const next = { seq: tip.next.seq, turn };
  const position: Position = { before: tip.head, beforeEntry: tip.entry, at: tip.next, next };
  const open = hasBegun(tip) ? await forkBehind(ports, tip.entry) : null;
  if (open) {
    const tips = await closeBranches(ports, open, reasons.inside);
    if (turn.node === closeMark && !tips.some(hasBegun)) return position;
    await settleJoin(ports, position, open, tips, reasons.here);
    return null;
  }
  if (turn.node === closeMark) return position;
  const { execution_id, workflow_id, workflow_version } = tip.head;
  const execution = { id: execution_id, workflowId: workflow_id, version: workflow_version };
  const definition = await definitionOf(ports, { execution, node: turn.node });
  await ports.settleTurn(ports, { ...definition, position, turn }, reasons.here);
  return null;
}

/** Closes every branch of a fork; answers their last entries, behind which no other can be written. */
export function closeBranches(ports: SettlingPorts, open: OpenFork, reason: Reason): Promise<Tip[]> {
  const reasons = { here: reason, inside: reason };
  return atOnce(open.branches, async ({ scope }) => {
    for (;;) {
      const tip = await readTip(ports, open.head.execution_id, scope, open.entry);
      if (await closeBehind(ports, tip, reasons)) return tip;
    }
  });
}
