import { type RequestEvent, requestApproval } from "@nova/engine";
import { lambda } from "./lambda.ts";

/**
 * Runs the task of an approval or of a wait for an event. Step Functions then waits until a caller returns the task's
 * token.
 */
export const handler = lambda((ports, event: RequestEvent) => requestApproval(ports, event));
