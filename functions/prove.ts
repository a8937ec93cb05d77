import { proveAndStamp } from "@nova/service";
import { logger } from "./app.ts";
import { serviceLambda } from "./service-lambda.ts";

/**
 * Puts the runs that have closed into Merkle trees, on a schedule, and gets time stamps for the roots. If a root gets
 * no stamp, this is no error: the next job asks the authority again.
 */
export const handler = serviceLambda(async (ports, _event: unknown, _signal, leftMs) => {
  const { made, stamps, problem } = await proveAndStamp(ports, { until: ports.clock.now() + leftMs() });
  const counts = { roots: made.length, runs: made.reduce((sum, { size }) => sum + size, 0), stamps };
  logger.info("proved", { numbers: counts });
  if (problem !== undefined) logger.warn("roots without a time stamp", { reason: problem });
  return counts;
});
