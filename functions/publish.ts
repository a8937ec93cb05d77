import { publishVersion } from "@nova/service";
import { z } from "zod";
import { logger } from "./app.ts";
import { detailsIn } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Publication = z.object({ workflow: z.string(), version: z.number() });

/** Milliseconds between two publications: Step Functions accepts one new or changed state machine a second. */
const paceMs = 1_000;

/** Publishes versions one after the other. A version that is already published needs no pause. */
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
