import type { Delivery } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";

type Outcome = Pick<Delivery, "execution" | "reason"> & { id?: string; status: string };

/** What started nothing is a log line besides, which a metric counts: without the reason, which may quote what came. */
export function answerOf({ id, status, execution, reason }: Outcome): Outcome {
  if (status === "refused" || status === "failed") logger.warn("delivery refused", { delivery: id, status });
  return { ...(id !== undefined && { id }), status, execution, reason };
}

const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

/** Details of an event of the bus, of a batch of those from a queue, or given by themselves. */
export function detailsIn<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail[] {
  const batch = Batch.safeParse(event);
  if (!batch.success) return [detailOf(event, detail)];
  return batch.data.Records.map(({ body }) => detailOf(JSON.parse(body), detail));
}

/** Throws where it is neither. */
export function detailOf<Detail>(event: unknown, detail: z.ZodType<Detail>): Detail {
  const whole = z.object({ detail }).safeParse(event);
  return whole.success ? whole.data.detail : detail.parse(event);
}
