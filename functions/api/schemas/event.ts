import type { WaitingTask } from "@nova/engine";
import { z } from "zod";
import { ExactObject, ExecutionId, TaskId } from "./values.ts";

export const EventRequest = z.strictObject({
  source: z.string().min(1).max(256).meta({ description: "where it comes from, as in `shop.orders`" }),
  type: z.string().min(1).max(128).meta({ description: "what happened, as in `OrderPaid`" }),
  detail: ExactObject.optional().meta({ description: "what there is to say" }),
  on_bus: z.boolean().optional().meta({
    description: "put it on the bus: triggers hear of it too, and `items` is empty, since nobody waits for them",
  }),
});

export const TakenEvent = z
  .object({
    event_id: z.string(),
    items: z.array(z.object({ task_id: TaskId, execution_id: ExecutionId, node: z.string() })),
  })
  .meta({ id: "TakenEvent" });

export function takenItem({ id, execution, node }: WaitingTask) {
  return { task_id: id, execution_id: execution, node };
}
