import type { ServicePorts } from "../ports/index.ts";
import type { PendingPublication, PublicationName } from "../ports/publications.ts";
import { handOver } from "./hand-over.ts";

/** What waits for this long was lost on its way, or waits behind many others. */
const lostMs = 120_000;
const longestMs = 3_600_000;

/**
 * Hands publications over again that nobody seems to work at. Answers which. Each waits twice as long after every time,
 * so that a queue that is long already does not grow by all of it with every sweep.
 */
export async function sweepPublications(ports: ServicePorts): Promise<PublicationName[]> {
  const again: PublicationName[] = [];
  for await (const publication of ports.publications.pending()) {
    if (ports.clock.now() < dueAt(publication)) continue;
    const { workflowId, version, handedOver } = publication;
    // Noted first: one that cannot be handed over does not keep the others from it the next time.
    const at = new Date(ports.clock.now()).toISOString();
    await ports.publications.noteHandedOver({ workflowId, version }, { times: (handedOver?.times ?? 0) + 1, at });
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}

function dueAt({ createdAt, handedOver: { times, at } = { times: 0, at: createdAt } }: PendingPublication): number {
  return Date.parse(at) + Math.min(longestMs, lostMs * 2 ** times);
}
