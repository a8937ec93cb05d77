import { sweepService } from "@nova/service";
import { logger } from "./app.ts";
import { serviceLambda } from "./service-lambda.ts";

/** On a schedule: what died is closed, begun or sent once more; what it could not do it tries again next time. */
export const handler = serviceLambda(async (ports, _event: unknown) => {
  const swept = await sweepService(ports);
  const failed = [...swept.failed, ...swept.tasks.failed];
  if (failed.length > 0) logger.error("executions and tasks that cannot be swept", { failed });
  logger.info("swept", { queued: swept.queued });
  return swept;
});
