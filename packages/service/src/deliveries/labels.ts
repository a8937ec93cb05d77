import { type Execution, type Label, UnreadableRecord } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { listExecutions } from "../executions/executions.ts";
import type { Principal } from "../ports/access.ts";
import type { Delivery } from "../ports/deliveries.ts";
import type { ServicePorts } from "../ports/index.ts";
import { everyItem, type Page, type PageQuery } from "../ports/page.ts";
import { listDeliveries } from "./list.ts";

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
