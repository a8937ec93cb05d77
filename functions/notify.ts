import { notifyFailure, notifyTask } from "@nova/service";
import { z } from "zod";
import { detailsIn } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Detail = z.object({
  execution_id: z.string(),
  parent_execution_id: z.string().optional(),
  /** Of an approval that waits. */
  task_id: z.string().optional(),
});

/** EventBridge, through a queue that tries it again for a day: a run has failed, or asks people; they hear of it. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const told: string[] = [];
  for (const { execution_id, parent_execution_id: parent, task_id } of detailsIn(event, Detail)) {
    const failed = { execution_id, ...(parent !== undefined && { parent_execution_id: parent }) };
    const telling = task_id === undefined ? notifyFailure(ports, failed) : notifyTask(ports, { execution_id, task_id });
    told.push(...(await telling).told);
  }
  return { told };
});
