import { type CaughtError, failExecution, type RunPosition } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** Last task of a run that fails; its answer is what the Fail state says. */
export const handler = lambda((ports, event: RunPosition & { error?: CaughtError }) => failExecution(ports, event));
