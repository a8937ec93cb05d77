import { type CaughtError, failExecution, type RunPosition } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Runs the last task of a failed run: closes the run, and returns what the Fail state reports. */
export const handler = lambda((ports, event: RunPosition & { error?: CaughtError }) => failExecution(ports, event));
