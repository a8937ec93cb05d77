import { publishVersion } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";
import { detailsIn } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Publication = z.object({ workflow: z.string(), version: z.number() });

/** Step Functions, CreateStateMachine and UpdateStateMachine: one a second; this runs once at a time. */
const paceMs = 1_000;

/** Publishes what waits for it, one after the other. What is over already asked nothing of Step Functions: no pause. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  for (const { workflow: workflowId, version } of detailsIn(event, Publication)) {
    const begun = ports.clock.now();
    if (!(await publishVersion(ports, { workflowId, version }))) continue;
    const publication = await ports.publications.get({ workflowId, version });
    if (publication?.status === "failed") {
      logger.warn("publication failed", { workflow: workflowId, version, reason: publication.reason });
    }
    await ports.clock.sleep(Math.max(0, begun + paceMs - ports.clock.now()));
  }
});
