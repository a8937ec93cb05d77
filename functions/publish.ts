import { publishVersion } from "@nova/service";
import { z } from "zod";
import { serviceLambda } from "./service-lambda.ts";

const Named = z.object({ workflow: z.string(), version: z.number() });
const Event = z.object({ detail: Named });
/** What a queue hands over: events of the bus, as text. */
const Batch = z.object({ Records: z.array(z.object({ body: z.string() })) });
const Payload = z.union([
  Batch.transform((batch) => batch.Records.map(({ body }) => Event.parse(JSON.parse(body)).detail)),
  Event.transform(({ detail }) => [detail]),
  Named.transform((named) => [named]),
]);

/** Step Functions, CreateStateMachine and UpdateStateMachine: one a second; this runs once at a time. */
const paceMs = 1_000;

/** Publishes what waits for it, one after the other. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  for (const { workflow, version } of Payload.parse(event)) {
    const begun = ports.clock.now();
    await publishVersion(ports, { workflowId: workflow, version });
    await ports.clock.sleep(Math.max(0, begun + paceMs - ports.clock.now()));
  }
});
