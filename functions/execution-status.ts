import { executionEnded } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** EventBridge "Step Functions Execution Status Change"; best effort, the sweeper does the rest. */
export const handler = lambda((ports, event: { detail: { name: string } }) => executionEnded(ports, event.detail.name));
