import { fireTrigger } from "@nova/service";
import { z } from "zod";
import { answerOf } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const name = { workflow: z.string(), trigger: z.string() };
const Payload = z.union([
  z.object({ ...name, scheduled_at: z.iso.datetime() }),
  z.object({ ...name, event: z.looseObject({ id: z.string(), source: z.string(), "detail-type": z.string() }) }),
]);

/** Fires a trigger of a workflow. EventBridge and EventBridge Scheduler call this Lambda. */
export const handler = serviceLambda(async (ports, payload: unknown) =>
  answerOf(await fireTrigger(ports, Payload.parse(payload))),
);
