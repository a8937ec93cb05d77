import type { ServicePorts } from "../ports/index.ts";
import type { HandOver, Publication, PublicationName } from "../ports/workflow-states.ts";
import { publishVersion } from "./publish-version.ts";

/** What waits for this long was lost on its way, or waits behind many others; after every time, twice as long. */
const lostMs = 120_000;
const longestMs = 3_600_000;

type Clock = Pick<ServicePorts, "clock">;

export function isLost({ clock }: Clock, { times, at }: HandOver): boolean {
  return clock.now() >= Date.parse(at) + Math.min(longestMs, lostMs * 2 ** times);
}

export function handedOverAgain({ clock }: Clock, before?: HandOver): HandOver {
  return { times: (before?.times ?? 0) + 1, at: new Date(clock.now()).toISOString() };
}

/** So long a request waits for the queue: most publications take less. */
const patienceMs = 2_000;
const pauseMs = 100;

/** Gives a publication to the queue; where there is none it is done at once. */
export async function handOver(ports: ServicePorts, name: PublicationName): Promise<void> {
  if (!ports.publishQueue) await publishVersion(ports, name);
  else await ports.publishQueue.enqueue({ workflow: name.workflowId, version: name.version });
}

/** Has it published: answers the publication when it is over, or as it stands when whoever asked has waited long enough. */
export async function whenPublished(ports: ServicePorts, waiting: Publication): Promise<Publication> {
  const { publications, clock } = ports;
  const name = { workflowId: waiting.workflowId, version: waiting.version };
  await handOver(ports, name);
  const end = clock.now() + patienceMs;
  for (;;) {
    const publication = await publications.get(name);
    if (publication?.status !== "publishing" || clock.now() >= end) return publication ?? waiting;
    await clock.sleep(pauseMs);
  }
}

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
    await ports.publications.recordHandOver({ workflowId, version }, handedOverAgain(ports, handedOver));
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}

/**
 * Has the triggers of workflows settled whose version was being changed when a process died: by whoever publishes, who
 * may. Where somebody is at it still, that is one more who does the same. Each waits longer after every time, so that
 * what cannot be settled for now keeps no publication waiting.
 */
export async function sweepTriggers(ports: ServicePorts): Promise<void> {
  for await (const { workflowId, touched, handedOver } of ports.workflowStates.unsettled()) {
    if (handedOver && !isLost(ports, handedOver)) continue;
    await ports.workflowStates.recordHandOver(workflowId, handedOverAgain(ports, handedOver));
    await handOver(ports, { workflowId, version: Math.max(...touched) });
  }
}
