import { executionEnded } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** EventBridge "Step Functions Execution Status Change"; AWS delivers it at best once, so the sweeper repeats lost ones. */
export const handler = lambda((ports, event: { detail: { name: string } }) => executionEnded(ports, event.detail.name));
