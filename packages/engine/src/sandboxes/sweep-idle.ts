import type { Offer } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { compareEnds, livingOffers } from "./life.ts";
import { keptSeconds, poolOf, sandboxSpec, tasksOf } from "./spec.ts";

/**
 * Removes offers of sandboxes that have died, a page of the oldest ones at a time. Sandboxes that a workflow keeps `warm`
 * stay while its version `isActive`; one that cannot be extended is replaced by a new one.
 */
export async function sweepIdle(
  ports: Ports,
  isActive: (workflow: string, version: number) => Promise<boolean>,
  timeBudget: Pick<AbortSignal, "aborted"> = { aborted: false },
): Promise<void> {
  for (let isMore = true; isMore && !timeBudget.aborted; ) {
    const offers = await ports.executions.idle();
    const living = livingOffers(offers, ports.clock.now());
    for (const [, pool] of Map.groupBy(living, ({ idle }) => idle.pool?.key)) await keepPool(ports, pool, isActive);
    const dead = offers.filter((offer) => !living.includes(offer));
    const taken = await Promise.all(dead.map((offer) => ports.executions.takeIdle(offer)));
    isMore = taken.includes(true);
  }
}

async function keepPool(
  ports: Ports,
  pool: Offer[],
  isActive: (workflow: string, version: number) => Promise<boolean>,
): Promise<void> {
  for (const [index, offer] of pool.sort(compareEnds).reverse().entries()) {
    const version = await ports.workflows.get(offer.workflowId, offer.version);
    const { warm = 0 } = version?.workflow ?? {};
    if (!version || index >= warm || !(await isActive(offer.workflowId, offer.version))) continue;
    const isFresh = Date.parse(offer.idle.endsAt) - ports.clock.now() > (keptSeconds / 2) * 1000;
    if (!isFresh) await keepOffer(ports, offer, version);
  }
}

async function keepOffer(ports: Ports, offer: Offer, version: WorkflowVersion): Promise<void> {
  const extended = await ports.sandboxes.extend(offer.idle, keptSeconds);
  const kept = extended ?? (await createLike(ports, offer.idle, offer, version));
  // If the offer is gone, a run may have taken the sandbox, so it is not killed: it dies by its lifetime.
  if (kept) await ports.executions.keepIdle(offer, kept);
}

/** Makes a sandbox of the same pool, if a node of the version has that pool. */
async function createLike(
  ports: Ports,
  { pool }: Sandbox,
  { id, client }: Pick<Offer, "id" | "client">,
  version: WorkflowVersion,
): Promise<Sandbox | undefined> {
  for (const node of tasksOf(version.workflow.nodes)) {
    const spec = sandboxSpec({ execution: id, scope: "" }, node, version);
    const own = poolOf(client, spec, node, version.workflow);
    if (own && own.key === pool?.key)
      return ports.sandboxes.create({ ...spec, lifetimeSeconds: keptSeconds, pool: own });
  }
  return undefined;
}
