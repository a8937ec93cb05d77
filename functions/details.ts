import type { Delivery } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";

type Outcome = Pick<Delivery, "execution" | "reason"> & { id?: string; status: string };

/** Also logs a delivery that started no run, for a metric. The line has no reason, since that may quote the delivery. */
export function answerOf({ id, status, execution, reason }: Outcome): Outcome {
  if (status === "refused" || status === "failed") logger.warn("delivery refused", { delivery: id, status });
  return { ...(id !== undefined && { id }), status, execution, reason };
}

const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/** The details of an event of the bus, of a batch of events from a queue, or of a bare detail. */
export function detailsIn<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail[] {
  const batch = Batch.safeParse(event);
  if (!batch.success) return [detailOf(event, detail)];
  return batch.data.Records.map(({ body }) => detailOf(JSON.parse(body), detail));
}

/** The detail of an event, or the bare detail; throws if it is neither. */
export function detailOf<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail {
  const whole = z.object({ detail }).safeParse(event);
  return whole.success ? whole.data.detail : detail.parse(event);
}
