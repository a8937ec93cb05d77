import { type CaughtError, type NodeEvent, settleNode } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Behind the Catch of a node with `onError`. */
export const handler = lambda((ports, event: NodeEvent & { error: CaughtError }) => settleNode(ports, event));
