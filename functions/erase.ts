import { eraseClient } from "@nova/service";
import { z } from "zod";
import { serviceLambda } from "./service-lambda.ts";

const Named = z.object({ client: z.string() });
const Payload = z.union([z.object({ detail: Named }).transform(({ detail }) => detail), Named]);

/** It ends before its time does; the sweeper has it go on. */
const workMs = 12 * 60_000;

/** Erases a client that was deleted. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  const { client } = Payload.parse(event);
  return { client, erased: await eraseClient(ports, client, ports.clock.now() + workMs) };
});
