import type { ServicePorts } from "../ports/index.ts";
import type { Publication, PublicationName } from "../ports/publications.ts";
import { publishVersion } from "./publish-version.ts";

/** So long a request waits for the queue: most publications take less. */
const patienceMs = 2_000;
const pauseMs = 100;

/** Gives a publication to the queue; where there is none it is done at once. */
export async function handOver(ports: ServicePorts, name: PublicationName): Promise<void> {
  if (!ports.publishQueue) await publishVersion(ports, name);
  else await ports.publishQueue.enqueue({ workflow: name.workflowId, version: name.version });
}

/** The publication when it is over, or as it stands when whoever asked has waited long enough. */
export async function untilPublished(
  { publications, clock }: Pick<ServicePorts, "publications" | "clock">,
  name: PublicationName,
): Promise<Publication | undefined> {
  const end = clock.now() + patienceMs;
  for (;;) {
    const publication = await publications.get(name);
    if (publication?.status !== "publishing" || clock.now() >= end) return publication;
    await clock.sleep(pauseMs);
  }
}
