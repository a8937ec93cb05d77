import { notifyFailure, notifyTask } from "@nova/service";
import { z } from "zod";
import { detailsIn } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Detail = z.object({
  execution_id: z.string(),
  parent_execution_id: z.string().optional(),
  /** The task of an approval that waits; absent if the event reports a failed run. */
  task_id: z.string().optional(),
  reminder: z.number().optional(),
  link_for: z.string().optional(),
});

/** Reports a failed run to people, or asks them for an approval. A queue of EventBridge retries it for a day. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const told: string[] = [];
  for (const { task_id, ...detail } of detailsIn(event, Detail)) {
    const telling = task_id === undefined ? notifyFailure(ports, detail) : notifyTask(ports, { task_id, ...detail });
    told.push(...(await telling).told);
  }
  return { told };
});
