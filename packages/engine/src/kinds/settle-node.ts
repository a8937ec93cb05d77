import type { Ports } from "../ports/index.ts";
import { type SettleAnswer, settleAnswer } from "../protocol/answer.ts";
import { settlingPorts } from "../protocol/close.ts";
import type { CaughtError } from "../protocol/event.ts";
import { settledNode } from "../protocol/held-turn.ts";
import type { MapEvent } from "../protocol/items-answer.ts";
import { reasonOf } from "../protocol/settling.ts";
import { withKinds } from "./table.ts";
import { expiredEntry } from "./waiting/expire.ts";

/** What is settled: a node whose task failed, or one that was asked for and not answered in time. */
export type SettleEvent = MapEvent & ({ error: CaughtError } | { expired: true });

/** The chain, not Step Functions, says what happened. Throws `ExecutionClosed`, `ChainBroken`. */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling =
    "expired" in event
      ? expiredEntry(ports, event)
      : settledNode(settlingPorts(withKinds(ports)), event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}
