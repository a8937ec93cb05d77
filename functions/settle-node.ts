import { type JoinEvent, joinFork, type SettleEvent, settleNode } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Settles a node after a Catch, or joins the branches of a fork. Returns the outcome that is on the chain. */
export const handler = lambda((ports, event: SettleEvent | JoinEvent) =>
  "join" in event ? joinFork(ports, event) : settleNode(ports, event),
);
