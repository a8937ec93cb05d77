import { sweep } from "@nova/engine";
import { logger } from "./app.ts";
import { lambda } from "./lambda.ts";

/** On a schedule: closes what died, repeats a start or an answer that was lost; what it could not do it tries again next time. */
export const handler = lambda(async (ports, _event: unknown) => {
  const swept = await sweep(ports);
  const failed = [...swept.failed, ...swept.tasks.failed];
  if (failed.length > 0) logger.error("executions and tasks that cannot be swept", { failed });
  return swept;
});
