import type { ServicePorts } from "../ports/index.ts";
import type { PublicationName } from "../ports/publications.ts";
import { handOver } from "./hand-over.ts";
import { handedOverAgain, isLost } from "./handed-over.ts";

/**
 * Hands publications over again that nobody seems to work at. Answers which. Each waits twice as long after every time,
 * so that a queue that is long already does not grow by all of it with every sweep.
 */
export async function sweepPublications(ports: ServicePorts): Promise<PublicationName[]> {
  const again: PublicationName[] = [];
  for await (const publication of ports.publications.pending()) {
    const { workflowId, version, createdAt, handedOver = { times: 0, at: createdAt } } = publication;
    if (!isLost(ports, handedOver)) continue;
    // Noted first: one that cannot be handed over does not keep the others from it the next time.
    await ports.publications.noteHandedOver({ workflowId, version }, handedOverAgain(ports, handedOver));
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}
