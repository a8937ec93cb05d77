import { cancelExecution } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { recordDeed } from "../audit/audit.ts";
import type { ServicePorts } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/fill.ts";
import { endRun, eraseContents, outermost } from "./erase-run.ts";
import { behindPass, ErasureProgress, mayBeLast } from "./progress.ts";
import { removeSessionsOf } from "./remove-session.ts";

const pageSize = 50;

/** What a client leaves is looked through so often before the sweeper has to come again. */
const maxPasses = 5;

/**
 * Erases a client that was marked for it: keys first, so that nobody begins anything, then what is open, what its runs
 * knew, its objects, everything else that names it, and itself last: once a pass has found all there is that began when
 * nobody was left who could begin a run for it, or store what one of its runs was told. Who comes after a process that
 * died, or when `until` (milliseconds since the epoch) is over, goes on where it was. Answers whether all is done.
 */
export async function eraseClient(
  ports: ServicePorts,
  slug: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const client = await ports.clients.get(slug);
  if (!client?.erasing) return true;
  // Whoever deleted it may have died before that was written.
  if (client.erasing.deed) await ports.audit.append(client.erasing.deed);
  const progress = new ErasureProgress(ports, slug, client.erasing);
  await removeKeys(ports, slug);
  await removeSessionsOf(ports, slug);
  const { restsUntil } = client.erasing;
  if (restsUntil !== undefined) {
    if (ports.clock.now() < Date.parse(restsUntil)) return false;
    await progress.beginPass({ mayBeLast: false });
  }
  if (!(await cancelOpen(ports, slug, progress, until))) return false;
  for (let passes = 0; passes < maxPasses; passes++) {
    const isUnderWay = passes === 0 && progress.at.passSince !== undefined;
    if (!isUnderWay) await progress.beginPass({ mayBeLast: await mayBeLast(ports, slug) });
    if (!(await passOver(ports, slug, progress, until))) return false;
    const behind = await behindPass(ports, slug, progress);
    if (behind === "nothing") return remove(ports, slug);
    if (behind === "another") continue;
    await progress.rest(behind);
    return false;
  }
  return false;
}

async function remove(ports: ServicePorts, slug: string): Promise<true> {
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

/** False where its time was over before all were asked. */
async function cancelOpen(
  ports: ServicePorts,
  client: string,
  progress: ErasureProgress,
  until: number,
): Promise<boolean> {
  for await (const record of ports.executions.open()) {
    if (ports.clock.now() >= until) return false;
    if (record.client === client && !record.parent) await cancelExecution(ports, record.id);
    await progress.renew();
  }
  return true;
}

/** Everything once, from where it was. False where its time was over before. */
async function passOver(ports: ServicePorts, slug: string, progress: ErasureProgress, until: number): Promise<boolean> {
  for (let isOver = false; !isOver; ) {
    if (ports.clock.now() >= until) return false;
    if (progress.at.part === "executions") await eraseExecutions(ports, slug, progress);
    else {
      const { cursor, runs = 0 } = progress.at;
      const next = await ports.eraser.rest(slug, cursor);
      if (next !== undefined) await progress.moveTo({ part: "rest", cursor: next, runs });
      isOver = next === undefined;
    }
  }
  return true;
}

async function eraseExecutions(ports: ServicePorts, client: string, progress: ErasureProgress): Promise<void> {
  const { cursor, runs = 0 } = progress.at;
  const page = await ports.executions.list(defined({ client, limit: pageSize, cursor }));
  for (const execution of page.items) {
    if (execution.parent) await endRun(ports, await outermost(ports, execution));
    await endRun(ports, execution.id);
    await giveSlotsBack(ports, execution); // whoever cancelled it may have died before that
    await eraseContents(ports, execution.id);
    await progress.renew();
  }
  // What nobody can read of a record must not keep the rest of its run from going.
  for (const id of page.unreadable ?? []) await eraseContents(ports, id);
  const seen = runs + page.items.length;
  if (page.cursor !== undefined) return progress.moveTo({ part: "executions", cursor: page.cursor, runs: seen });
  await ports.eraser.objects(client);
  return progress.moveTo({ part: "rest", runs: seen });
}
