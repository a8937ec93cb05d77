import { notifyFailure, notifyTask } from "@nova/service";
import { z } from "zod";
import { detailsIn } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Detail = z.object({
  execution_id: z.string(),
  parent_execution_id: z.string().optional(),
  /** The task of an approval that waits; absent if the event reports a failed run. */
  task_id: z.string().optional(),
});

/** Reports a failed run to people, or asks them for an approval. EventBridge calls it through a queue, which retries for a day. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const told: string[] = [];
  for (const { execution_id, parent_execution_id: parent, task_id } of detailsIn(event, Detail)) {
    const failed = { execution_id, ...(parent !== undefined && { parent_execution_id: parent }) };
    const telling = task_id === undefined ? notifyFailure(ports, failed) : notifyTask(ports, { execution_id, task_id });
    told.push(...(await telling).told);
  }
  return { told };
});
