import type { Delivery } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";

type Outcome = Pick<Delivery, "execution" | "reason"> & { id?: string; status: string };

/**
 * Returns a Lambda's answer about a delivery. A metric counts refused and failed deliveries, so the function logs them.
 * The log does not contain the reason, which may quote the delivery.
 */
export function answerOf({ id, status, execution, reason }: Outcome): Outcome {
  if (status === "refused" || status === "failed") logger.warn("delivery refused", { delivery: id, status });
  return { ...(id !== undefined && { id }), status, execution, reason };
}

const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/**
 * Returns the details of all events in a batch from a queue. For a single event it returns one detail, as `detailOf`
 * does.
 */
export function detailsIn<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail[] {
  const batch = Batch.safeParse(event);
  if (!batch.success) return [detailOf(event, detail)];
  return batch.data.Records.map(({ body }) => detailOf(JSON.parse(body), detail));
}

/**
 * Returns the detail of an event of the bus. `event` may also be the detail itself. Throws if the detail does not fit
 * its schema.
 */
export function detailOf<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail {
  const whole = z.object({ detail }).safeParse(event);
  return whole.success ? whole.data.detail : detail.parse(event);
}
