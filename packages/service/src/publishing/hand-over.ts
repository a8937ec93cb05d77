import type { ServicePorts } from "../ports/index.ts";
import type { HandOver, Publication, PublicationName } from "../ports/workflow-states.ts";
import { publishVersion } from "./publish-version.ts";

/** A hand-over older than this counts as lost. The limit doubles with each hand-over, since the queue may just be long. */
const lostMs = 120_000;
const longestMs = 3_600_000;

type Clock = Pick<ServicePorts, "clock">;

export function isLost({ clock }: Clock, { times, at }: HandOver): boolean {
  return clock.now() >= Date.parse(at) + Math.min(longestMs, lostMs * 2 ** times);
}

function nextHandOver({ clock }: Clock, before?: HandOver): HandOver {
  return { times: (before?.times ?? 0) + 1, at: new Date(clock.now()).toISOString() };
}

/** How long a request waits for its publication; most take less. */
const patienceMs = 2_000;
const pauseMs = 100;

/** Puts a publication into the queue; without a queue, publishes it directly. */
export async function handOver(ports: ServicePorts, name: PublicationName): Promise<void> {
  if (!ports.publishQueue) await publishVersion(ports, name);
  else await ports.publishQueue.enqueue({ workflow: name.workflowId, version: name.version });
}

/** Hands a publication over and waits for its end. Returns its current state if the wait was too long. */
export async function waitUntilPublished(ports: ServicePorts, waiting: Publication): Promise<Publication> {
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
 * Hands lost publications over again, and returns them. The limit doubles for each, so a queue that is already long does
 * not grow by its whole length with every sweep.
 */
export async function sweepPublications(ports: ServicePorts): Promise<PublicationName[]> {
  const again: PublicationName[] = [];
  for await (const publication of ports.publications.pending()) {
    const { workflowId, version, createdAt, handedOver = { times: 0, at: createdAt } } = publication;
    if (!isLost(ports, handedOver)) continue;
    // Recorded first: a publication that cannot be handed over must not block the others at the next sweep.
    await ports.publications.recordHandOver({ workflowId, version }, nextHandOver(ports, handedOver));
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}

/**
 * Has the publisher, which has the rights, settle triggers that a crashed process left between two versions. Settling
 * them twice is harmless. The limit doubles for each workflow, so triggers that cannot be settled delay no publication.
 */
export async function sweepTriggers(ports: ServicePorts): Promise<void> {
  for await (const { workflowId, touched, handedOver } of ports.workflowStates.unsettled()) {
    if (handedOver && !isLost(ports, handedOver)) continue;
    await ports.workflowStates.recordHandOver(workflowId, nextHandOver(ports, handedOver));
    await handOver(ports, { workflowId, version: Math.max(...touched) });
  }
}
