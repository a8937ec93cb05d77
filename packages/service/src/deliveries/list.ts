import { type Execution, type Label, UnreadableRecord } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { reaches } from "../access/authenticate.ts";
import { listExecutions } from "../executions/executions.ts";
import type { Principal } from "../ports/access.ts";
import type { Delivery, DeliveryQuery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem, type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";

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

/** A delivery with the labels of its run; empty if it has no run. */
export type LabelledDelivery = Delivery & { labels: Record<string, string> };

type LabelQuery = Omit<Parameters<typeof listDeliveries>[2], keyof PageQuery>;

/** Page size of the runs read by label, and of the deliveries read for them. */
const pageSize = 200;

/** Lists deliveries, newest first, as `listDeliveries` does; with `label` only those whose runs have it. */
export async function listLabelledDeliveries(
  ports: ServicePorts,
  by: Principal,
  { label, limit, cursor, ...wanted }: LabelQuery & PageQuery & { label?: Label | undefined },
): Promise<Page<LabelledDelivery>> {
  if (!label) return addLabels(ports, await listDeliveries(ports, by, { ...wanted, limit, cursor }));
  const runs = await runsWith(ports, by, wanted, label);
  const pageAt = (from = cursor) => listDeliveries(ports, by, { ...wanted, limit: pageSize, cursor: from });
  const items: Delivery[] = [];
  for await (const delivery of runs.size > 0 ? everyItem(pageAt) : []) {
    if (delivery.execution === null || !runs.has(delivery.execution)) continue;
    if (items.length === limit) return addLabels(ports, { items, ...defined({ cursor: items.at(-1)?.id }) });
    items.push(delivery);
  }
  return addLabels(ports, { items });
}

async function runsWith(ports: ServicePorts, by: Principal, { workflow, client }: LabelQuery, label: Label) {
  const query = { label, limit: pageSize, ...defined({ workflow, client }) };
  const ids = new Set<string>();
  const pageAt = (cursor?: string) => listExecutions(ports, by, { ...query, ...defined({ cursor }) });
  for await (const { id } of everyItem(pageAt)) ids.add(id);
  return ids;
}

async function addLabels(ports: ServicePorts, page: Page<Delivery>): Promise<Page<LabelledDelivery>> {
  const items = page.items.map(async (delivery) => ({ ...delivery, labels: await labelsOf(ports, delivery) }));
  return { ...page, items: await Promise.all(items) };
}

async function labelsOf({ executions }: ServicePorts, { execution }: Delivery): Promise<Record<string, string>> {
  const unread = (error: unknown): Execution | undefined => {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  };
  const run = execution === null ? undefined : await executions.get(execution).catch(unread);
  return run?.labels ?? {};
}
