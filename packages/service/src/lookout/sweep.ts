import { type Swept, sweep } from "@nova/engine";
import { sweepErasures } from "../erasing/delete-client.ts";
import type { ServicePorts } from "../ports/index.ts";
import { sweepPublications } from "../publishing/sweep-publications.ts";
import { sweepQueues } from "../quotas/sweep-queues.ts";

export interface SweptService extends Swept {
  /** Runs that waited for a slot. */
  queued: number;
}

/** What died anywhere in the service goes on: runs, queues, publications, clients that are being erased. */
export async function sweepService(ports: ServicePorts, signal?: AbortSignal): Promise<SweptService> {
  const swept = await sweep(ports, signal);
  const queued = signal?.aborted ? 0 : await sweepQueues(ports);
  for (const other of [sweepPublications, sweepErasures]) {
    if (signal?.aborted) break;
    await other(ports);
  }
  return { ...swept, queued };
}
