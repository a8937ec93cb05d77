import { pollMailbox } from "@nova/service";
import { z } from "zod";
import { answerOf } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Payload = z.object({ workflow: z.string(), trigger: z.string() });

/** Reads the mailbox of a trigger. EventBridge Scheduler calls this Lambda. */
export const handler = serviceLambda(async (ports, payload: unknown, signal) => {
  const found = await pollMailbox(ports, Payload.parse(payload), signal);
  return { deliveries: found.map(answerOf) };
});
