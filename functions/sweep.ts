import { createSandboxes } from "@nova/sandbox";
import { sweepService } from "@nova/service";
import { logger } from "./app.ts";
import { provideNodeParts } from "./node-parts.ts";
import { serviceLambda } from "./service-lambda.ts";

// The sweeper creates the warm sandboxes of workflows, which needs the harness.
provideNodeParts({ sandboxes: createSandboxes });

/**
 * Sweeps on a schedule. If a part of the sweep fails, the other parts still run. Then the handler throws the first
 * error, and the next sweep tries again.
 */
export const handler = serviceLambda(async (ports, _event: unknown, signal, leftMs) => {
  const swept = await sweepService(ports, { signal, leftMs });
  const failed = [...swept.failed, ...swept.tasks.failed];
  if (failed.length > 0) logger.error("executions and tasks that cannot be swept", { failed });
  logger.info("swept", { queued: swept.queued, sandboxes: swept.sandboxes });
  const [broken] = swept.broken;
  if (!broken) return swept;
  const parts = swept.broken.map(({ part, error }) => ({ part, reason: String(error) }));
  logger.error("parts of the service that cannot be swept", { parts });
  throw broken.error;
});
