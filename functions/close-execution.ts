import { type CaughtError, failExecution, type RunPosition } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Last task of a failed run; the Fail state reports its answer. */
export const handler = lambda((ports, event: RunPosition & { error?: CaughtError }) => failExecution(ports, event));
