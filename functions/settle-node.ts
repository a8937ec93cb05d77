import { type JoinEvent, joinFork, type SettleEvent, settleNode } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Behind a Catch, and behind a fork: what the chain says of a node, or of all branches. */
export const handler = lambda((ports, event: SettleEvent | JoinEvent) =>
  "join" in event ? joinFork(ports, event) : settleNode(ports, event),
);
