import type { ServicePorts } from "../ports/index.ts";
import type { PublicationName } from "../ports/publications.ts";
import { handOver } from "./hand-over.ts";

/** What waits for this long was lost on its way. */
const lostMs = 120_000;

/** Hands publications over again that nobody seems to work at. Answers which. */
export async function sweepPublications(ports: ServicePorts): Promise<PublicationName[]> {
  const again: PublicationName[] = [];
  for await (const { workflowId, version, createdAt } of ports.publications.pending()) {
    if (ports.clock.now() - Date.parse(createdAt) < lostMs) continue;
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}
