import { type NodeEvent, runNode } from "@nova/engine";
import { createSandboxes } from "@nova/sandbox";
import { lambda } from "./lambda.ts";
import { provideNodeParts } from "./node-parts.ts";
import { nodePipeline } from "./node-pipeline.ts";

provideNodeParts({ pipeline: nodePipeline, sandboxes: createSandboxes });

/** Runs the task of every action, decision and end node. */
export const handler = lambda((ports, event: NodeEvent, signal) => runNode(ports, event, signal));
