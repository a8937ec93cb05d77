import { type Delivery, deliveryStatuses } from "@nova/service";
import { z } from "zod";
import { ListQuery } from "./list.ts";
import { Slug, Time, WorkflowId } from "./values.ts";

export const DeliveryQuery = z.strictObject({
  ...ListQuery.shape,
  workflow: WorkflowId.optional(),
  client: Slug.optional(),
  status: z.enum(deliveryStatuses).optional(),
});

const types = ["mail", "imap", "webhook", "schedule", "event"] as const;

export const DeliveryItem = z
  .object({
    id: z.string(),
    at: Time,
    type: z.enum(types),
    workflow: z.string().nullable().meta({ description: "null: nobody could say, as of a mail to an unknown address" }),
    trigger: z.string().nullable(),
    client_slug: z.string().nullable(),
    from: z.string(),
    about: z.string(),
    dedupe: z.string().meta({ description: "what repeated deliveries of the same have in common" }),
    status: z.enum(deliveryStatuses),
    execution_id: z.string().nullable(),
    reason: z.string().nullable().meta({ description: "why there is no run" }),
  })
  .meta({ id: "Delivery" });

export function deliveryItem(delivery: Delivery) {
  const { id, at, type, workflow, trigger, client, from, about, dedupe, status, execution, reason } = delivery;
  return {
    ...{ id, at, type, workflow, trigger, client_slug: client, from, about, dedupe, status },
    ...{ execution_id: execution, reason },
  };
}
