import { eraseExpired } from "@nova/service";
import { serviceLambda } from "./service-lambda.ts";

/** On a schedule, apart from the sweeper, which may not erase: contents of runs that are older than their client keeps them. */
export const handler = serviceLambda(async (ports, _event: unknown) => ({ erased: await eraseExpired(ports) }));
