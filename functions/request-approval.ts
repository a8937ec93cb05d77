import { type RequestEvent, requestApproval } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Task of an approval, and of a wait for an event: Step Functions waits until a caller returns the task's token. */
export const handler = lambda((ports, event: RequestEvent) => requestApproval(ports, event));
