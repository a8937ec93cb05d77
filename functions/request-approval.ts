import { type RequestEvent, requestApproval } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Task of an approval, and of a wait for an event: Step Functions waits on until the task's token comes back. */
export const handler = lambda((ports, event: RequestEvent) => requestApproval(ports, event));
