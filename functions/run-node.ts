import { type NodeEvent, runNode } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Task of every action, decision and end node. */
export const handler = lambda((ports, event: NodeEvent, signal) => runNode(ports, event, signal));
