import { eraseClient, eraseExecution, eraseStraggler } from "@nova/service";
import { z } from "zod";
import { detailOf } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Named = z.object({ client: z.string(), execution: z.string().optional(), isAsked: z.boolean().optional() });

/** It ends before its time does; the sweeper has it go on. */
const workMs = 12 * 60_000;

/** Erases a client that was deleted, a run that began while it was, or one that somebody asks for. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const { client, execution, isAsked } = detailOf(event, Named);
  const record = isAsked && execution !== undefined ? await ports.executions.get(execution) : undefined;
  if (record) return { client, erased: (await eraseExecution(ports, record)).length };
  if (execution !== undefined) return { client, erased: await eraseStraggler(ports, client, execution) };
  return { client, erased: await eraseClient(ports, client, ports.clock.now() + workMs) };
});
