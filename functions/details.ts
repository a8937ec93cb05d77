import type { Delivery } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";

type Outcome = Pick<Delivery, "execution" | "reason"> & { id?: string; status: string };

/**
 * Returns the answer about a delivery. A refused or failed delivery is also logged for a metric, without the reason,
 * which may quote the delivery.
 */
export function answerOf({ id, status, execution, reason }: Outcome): Outcome {
  if (status === "refused" || status === "failed") logger.warn("delivery refused", { delivery: id, status });
  return { ...(id !== undefined && { id }), status, execution, reason };
}

const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/**
 * Returns the details in an event of the bus or in a batch of events from a queue; any other event is itself the
 * detail.
 */
export function detailsIn<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail[] {
  const batch = Batch.safeParse(event);
  if (!batch.success) return [detailOf(event, detail)];
  return batch.data.Records.map(({ body }) => detailOf(JSON.parse(body), detail));
}

/** Returns the detail of an event. `event` may also be the detail itself. Throws if it is neither. */
export function detailOf<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail {
  const whole = z.object({ detail }).safeParse(event);
  return whole.success ? whole.data.detail : detail.parse(event);
}
