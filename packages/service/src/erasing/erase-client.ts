import { cancelExecution } from "@nova/engine";
import { recordDeed } from "../audit/record.ts";
import type { ServicePorts } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/give-back.ts";
import { eraseContents } from "./erase-execution.ts";

/** Where an erasure is: `cursor` in the list of executions first, in the whole table then. */
type Step = { part: "executions" | "rest"; cursor?: string };

const pageSize = 50;

/**
 * Erases a client that was marked for it: keys first, so that nobody begins anything, then what is open, what its runs
 * knew, its objects, everything else that names it, and itself last. Who comes after a process that died, or when `until`
 * (milliseconds since the epoch) is over, goes on where it was. Answers whether all is done.
 */
export async function eraseClient(
  ports: ServicePorts,
  slug: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const client = await ports.clients.get(slug);
  if (!client?.erasing) return true;
  let step: Step | undefined = {
    part: client.erasing.part,
    ...(client.erasing.cursor !== undefined && { cursor: client.erasing.cursor }),
  };
  await removeKeys(ports, slug);
  await cancelOpen(ports, slug);
  while (step) {
    if (ports.clock.now() >= until) return false;
    step = await (step.part === "executions" ? eraseExecutions : eraseRest)(ports, slug, step.cursor);
    const since = new Date(ports.clock.now()).toISOString();
    if (step) await ports.clients.update(slug, { erasing: { by: client.erasing.by, since, ...step } });
  }
  await recordDeed(ports, null, { action: "client.erased", client: slug, subject: slug });
  await ports.clients.remove(slug);
  return true;
}

async function removeKeys({ keys }: ServicePorts, client: string): Promise<void> {
  for (;;) {
    const page = await keys.list({ limit: pageSize, client });
    for (const { id } of page) await keys.remove(id);
    if (page.length < pageSize) return;
  }
}

async function cancelOpen(ports: ServicePorts, client: string): Promise<void> {
  for await (const record of ports.executions.open()) {
    if (record.client === client && !record.parent) await cancelExecution(ports, record.id);
  }
}

async function eraseExecutions(ports: ServicePorts, client: string, cursor?: string): Promise<Step> {
  const page = await ports.executions.list({ client, limit: pageSize, ...(cursor !== undefined && { cursor }) });
  for (const execution of page.items) {
    await giveSlotsBack(ports, execution); // whoever cancelled it may have died before that
    await eraseContents(ports, execution.id);
  }
  if (page.cursor !== undefined) return { part: "executions", cursor: page.cursor };
  await ports.eraser.objects(client);
  return { part: "rest" };
}

async function eraseRest({ eraser }: ServicePorts, client: string, cursor?: string): Promise<Step | undefined> {
  const next = await eraser.rest(client, cursor);
  return next === undefined ? undefined : { part: "rest", cursor: next };
}
