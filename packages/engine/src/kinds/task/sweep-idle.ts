import type { Offer } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { Sandbox } from "../../ports/sandboxes.ts";
import type { WorkflowVersion } from "../../ports/workflows.ts";
import { endless, type TimeBudget } from "../../protocol/end-runs.ts";
import { byEnd, isAlive, keptSeconds, poolOf } from "./idle-sandboxes.ts";
import { tasksOf } from "./outer-reach.ts";
import { sandboxSpec } from "./sandbox-choice.ts";

/**
 * Offers of sandboxes that have died meanwhile go, a page of the oldest ones at a time. Those that a workflow keeps `warm`
 * stay, as long as its version `isActive`, and new ones take the place of those that cannot live for longer.
 */
export async function sweepIdle(
  ports: Ports,
  isActive: (workflow: string, version: number) => Promise<boolean>,
  timeBudget: TimeBudget = endless,
): Promise<void> {
  for (let isMore = true; isMore && !timeBudget.aborted; ) {
    const offers = await ports.executions.idle();
    const [alive, dead] = [true, false].map((is) => offers.filter((one) => isAlive(one, ports.clock.now()) === is));
    for (const [, pool] of Map.groupBy(alive ?? [], ({ idle }) => idle.pool?.key))
      await keepPool(ports, pool, isActive);
    const taken = await Promise.all((dead ?? []).map((offer) => ports.executions.takeIdle(offer)));
    isMore = taken.includes(true);
  }
}

async function keepPool(
  ports: Ports,
  pool: Offer[],
  isActive: (workflow: string, version: number) => Promise<boolean>,
): Promise<void> {
  for (const [place, offer] of pool.sort(byEnd).reverse().entries()) {
    const version = await ports.workflows.get(offer.workflowId, offer.version);
    const { warm = 0 } = version?.workflow ?? {};
    if (!version || place >= warm || !(await isActive(offer.workflowId, offer.version))) continue;
    const isFresh = Date.parse(offer.idle.endsAt) - ports.clock.now() > (keptSeconds / 2) * 1000;
    if (!isFresh) await keepOffer(ports, offer, version);
  }
}

async function keepOffer(ports: Ports, offer: Offer, version: WorkflowVersion): Promise<void> {
  const extended = await ports.sandboxes.extend(offer.idle, keptSeconds);
  const kept = extended ?? (await createLike(ports, offer.idle, offer, version));
  // Where it is not on offer it dies by its lifetime: a run may have it, if the answer to this was lost.
  if (kept) await ports.executions.keepIdle(offer, kept);
}

/** One of the same pool, where a node of the version has that. */
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
