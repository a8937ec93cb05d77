import { eraseClient, eraseExecution, eraseStraggler, removeSession } from "@nova/service";
import { z } from "zod";
import { detailOf } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Named = z.object({
  client: z.string(),
  execution: z.string().optional(),
  isAsked: z.boolean().optional(),
  session: z.string().optional(),
});

/** Milliseconds after which this Lambda stops, and the sweeper continues the erasure. The Lambda has 15 minutes. */
const workMs = 12 * 60_000;

/** Erases a deleted client, a run that started during its deletion, or a run on request; or removes a session. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const { client, execution, isAsked, session } = detailOf(event, Named);
  if (session !== undefined) return { client, removed: await removeSession(ports, { id: session, client }) };
  const record = isAsked && execution !== undefined ? await ports.executions.get(execution) : undefined;
  if (record) return { client, erased: (await eraseExecution(ports, record)).length };
  if (execution !== undefined) return { client, erased: await eraseStraggler(ports, client, execution) };
  return { client, erased: await eraseClient(ports, client, ports.clock.now() + workMs) };
});
