import { reaches } from "../access/authenticate.ts";
import type { Principal } from "../ports/access.ts";
import type { Delivery, DeliveryQuery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";

/**
 * Lists deliveries, newest first; none of a client out of the caller's reach. Only keys for all clients see deliveries
 * that match no workflow.
 */
export async function listDeliveries(
  ports: ServicePorts,
  by: Principal,
  { limit, cursor, ...wanted }: PageQuery & Pick<DeliveryQuery, "client" | "status"> & { workflow?: string },
): Promise<Page<Delivery>> {
  const client = wanted.client ?? by.client;
  if (client !== null && !reaches(by, client)) return { items: [] };
  const list = (range: Range) => newest(ports, { ...wanted, client: client ?? undefined, ...range });
  const page = await readPage({ limit, cursor }, list, ({ id }) => id);
  return { ...page, items: await Promise.all(page.items.map((delivery) => hideMissingRun(ports, delivery))) };
}

/** Hides the reserved run id of an accepted delivery whose run never started. */
async function hideMissingRun({ executions }: ServicePorts, delivery: Delivery): Promise<Delivery> {
  const { status, execution } = delivery;
  if (status !== "accepted" || execution === null || (await executions.get(execution))) return delivery;
  return { ...delivery, execution: null };
}

/** Reads the newest deliveries; without workflow and client those of every workflow, and those that match none. */
async function newest({ deliveries, workflows }: ServicePorts, query: DeliveryQuery): Promise<Delivery[]> {
  if (query.workflow !== undefined || query.client !== undefined) return deliveries.list(query);
  const ids = [null, ...(await Array.fromAsync(workflows.ids()))];
  const lists = await Promise.all(ids.map((workflow) => deliveries.list({ ...query, workflow })));
  const found = lists.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, query.limit);
}
