import { executionEnded } from "@nova/engine";
import { lambda } from "./lambda.ts";

/**
 * Handles EventBridge's "Step Functions Execution Status Change". AWS may lose such an event, so the sweeper handles
 * executions whose event was lost.
 */
export const handler = lambda((ports, event: { detail: { name: string } }) => executionEnded(ports, event.detail.name));
