import { notifyFailure } from "@nova/service";
import { z } from "zod";
import { serviceLambda } from "./service-lambda.ts";

const Event = z.object({
  detail: z.object({ execution_id: z.string(), parent_execution_id: z.string().optional() }),
});

/** EventBridge: a run has failed; whoever wants to hear of it does. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const { execution_id, parent_execution_id: parent } = Event.parse(event).detail;
  return notifyFailure(ports, { execution_id, ...(parent !== undefined && { parent_execution_id: parent }) });
});
