import { type JoinEvent, joinFork, type SettleEvent, settleNode } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Runs after a Catch or a fork: answers the outcome of a node, or of all branches, from the chain. */
export const handler = lambda((ports, event: SettleEvent | JoinEvent) =>
  "join" in event ? joinFork(ports, event) : settleNode(ports, event),
);
