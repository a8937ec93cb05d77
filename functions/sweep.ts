import { sweep } from "@nova/engine";
import { logger } from "./app.ts";
import { lambda } from "./lambda.ts";

/** On a schedule: closes what died, repeats a start that was lost; what it could not do it tries again next time. */
export const handler = lambda(async (ports, _event: unknown) => {
  const swept = await sweep(ports);
  if (swept.failed.length > 0) logger.error("executions that cannot be swept", { failed: swept.failed });
  return swept;
});
