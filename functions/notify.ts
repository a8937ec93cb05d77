import { notifyFailure } from "@nova/service";
import { z } from "zod";
import { detailsIn } from "./details-in.ts";
import { serviceLambda } from "./service-lambda.ts";

const FailedRun = z.object({ execution_id: z.string(), parent_execution_id: z.string().optional() });

/** EventBridge, through a queue that tries it again for a day: a run has failed; whoever wants to hear of it does. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const told: string[] = [];
  for (const { execution_id, parent_execution_id: parent } of detailsIn(event, FailedRun)) {
    const failed = { execution_id, ...(parent !== undefined && { parent_execution_id: parent }) };
    told.push(...(await notifyFailure(ports, failed)).told);
  }
  return { told };
});
