import type { Ports } from "../ports/index.ts";
import { type MapEvent, type SettleAnswer, settleAnswer } from "../protocol/answer.ts";
import { settlingPorts } from "../protocol/close.ts";
import { definitionOf } from "../protocol/definition.ts";
import type { CaughtError, WaitEvent } from "../protocol/event.ts";
import { settleNodeLink } from "../protocol/held-turn.ts";
import { reasonOf } from "../protocol/settling.ts";
import { type FollowTime, tenSeconds } from "./code/follow.ts";
import { findNodeKind, type NodeAnswer, withKinds } from "./table.ts";
import { expiredEntry } from "./waiting/expire.ts";

/**
 * The task of one node (docs: the protocol of a node). Reads its place in the chain; a committed outcome is answered
 * and nothing runs; else the node runs once, whatever the number of deliveries. Throws `NovaError`s, whose names the
 * state machine's Retry and Catch match. `signal` fires when the Lambda's time is nearly over.
 * `followTime` says how long code that may outlive it is followed.
 */
export function runNode(
  ports: Ports,
  event: WaitEvent,
  signal: AbortSignal,
  { followTime = tenSeconds }: { followTime?: FollowTime } = {},
): Promise<NodeAnswer> {
  return ports.inFlight.during(event.execution.id, async () => {
    const definition = await definitionOf(ports, event);
    return findNodeKind(definition.node).runNodeTask(withKinds(ports), event, definition, { signal, followTime });
  });
}

/** What is settled: a node whose task failed, or one that was asked for and not answered in time. */
export type SettleEvent = MapEvent & ({ error: CaughtError } | { expired: true });

/** The chain, not Step Functions, says what happened. Throws `ExecutionClosed`, `ChainBroken`. */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling =
    "expired" in event
      ? expiredEntry(withKinds(ports), event)
      : settleNodeLink(settlingPorts(withKinds(ports)), event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}
