import { demandAllClients } from "../access/authenticate.ts";
import { buildDeed } from "../audit/audit.ts";
import { clientOf, listAllClients } from "../clients/clients.ts";
import type { Principal } from "../ports/access.ts";
import type { Erasing } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { eraseClient } from "./erase-client.ts";

/** An erasure without progress for this long counts as lost. */
const lostMs = 120_000;

/** Marks a client as deleted, so no run starts for it. Returns whether it is already erased. Throws `NotFound`, `Forbidden`. */
export async function deleteClient(ports: ServicePorts, by: Principal, slug: string): Promise<boolean> {
  demandAllClients(by);
  const there = await clientOf(ports, by, slug);
  const deletion = buildDeed(ports, by, { action: "client.deleted", client: slug, subject: slug });
  const { deed } = there.erasing ?? { deed: deletion };
  if (!there.erasing) {
    const erasing: Erasing = {
      by: by.id,
      since: deletion.at,
      markedAt: deletion.at,
      part: "executions",
      deed: deletion,
    };
    await ports.clients.update(slug, { erasing });
  }
  if (deed) await ports.audit.append(deed);
  return enqueueErasure(ports, slug);
}

async function enqueueErasure(ports: ServicePorts, client: string): Promise<boolean> {
  if (!ports.erasureQueue) return eraseClient(ports, client);
  await ports.erasureQueue.enqueue({ client });
  return false;
}

/** Enqueues lost or due erasures again. Returns their clients. */
export async function sweepErasures(ports: ServicePorts): Promise<string[]> {
  const again: string[] = [];
  for await (const { slug, erasing } of listAllClients(ports)) {
    if (!erasing) continue;
    // A paused erasure is not due before `restsUntil`.
    const { since, restsUntil } = erasing;
    const dueAt = restsUntil === undefined ? Date.parse(since) + lostMs : Date.parse(restsUntil);
    if (ports.clock.now() < dueAt) continue;
    await enqueueErasure(ports, slug);
    again.push(slug);
  }
  return again;
}
