import { verifySlice } from "@nova/service";
import { logger } from "./app.ts";
import { serviceLambda } from "./service-lambda.ts";

/** In these last milliseconds of the Lambda's time, no page starts. A page of large runs may need this much time. */
const lastPageMs = 120_000;

/**
 * Verifies the chains of all runs once a day, slice by slice, if the deployment has NOVA_VERIFY=daily. An alarm counts
 * the log lines about broken chains.
 */
export const handler = serviceLambda(async (ports, _event: unknown, _signal, leftMs) => {
  const { check, runs } = await verifySlice(ports, {
    until: ports.clock.now() + leftMs() - lastPageMs,
    onBroken: (execution, reason) => logger.error("chain broken", { execution, reason }),
  });
  const { day, broken, isDone } = check;
  if (runs > 0) logger.info("verified", { day, numbers: { runs, all: check.runs, broken }, done: isDone });
  return { day, runs, broken, done: isDone };
});
