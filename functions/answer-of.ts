import type { Delivery } from "@nova/service";
import { logger } from "./app.ts";

type Outcome = Pick<Delivery, "execution" | "reason"> & { id?: string; status: string };

/**
 * What a function says of deliveries; those that started nothing are log lines besides, which a metric counts. Reasons may
 * quote what came in, so that they are among the deliveries alone.
 */
export function answerOf({ id, status, execution, reason }: Outcome): Outcome {
  if (status === "refused" || status === "failed") logger.warn("delivery refused", { delivery: id, status });
  return { ...(id !== undefined && { id }), status, execution, reason };
}
