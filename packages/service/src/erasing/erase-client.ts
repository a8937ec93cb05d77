import { cancelExecution } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { recordDeed } from "../audit/audit.ts";
import type { ServicePorts } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/fill.ts";
import { cancelIfOpen, eraseContents, findOutermostRun } from "./erase-run.ts";
import { canBeLastPass, ErasureProgress, planAfterPass } from "./progress.ts";
import { removeSessionsOf } from "./remove-session.ts";

const pageSize = 50;

/** Passes of one call, before the sweeper must call again. */
const maxPasses = 5;

/**
 * Erases a deleted client: first its keys, so that it starts nothing new, then its open runs, the contents of its runs,
 * its objects, everything else that names it, and last its record. The record goes only after a pass that started when no
 * process was left that could start a run for the client or store an answer of one. A later call continues after a crash,
 * or after `until` (milliseconds since the epoch). Returns whether the erasure is complete.
 */
export async function eraseClient(
  ports: ServicePorts,
  slug: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const client = await ports.clients.get(slug);
  if (!client?.erasing) return true;
  // The process that marked the client may have crashed before it wrote the audit record.
  if (client.erasing.deed) await ports.audit.append(client.erasing.deed);
  const progress = new ErasureProgress(ports, slug, client.erasing);
  await removeKeys(ports, slug);
  await removeSessionsOf(ports, slug);
  const { restsUntil } = client.erasing;
  if (restsUntil !== undefined) {
    if (ports.clock.now() < Date.parse(restsUntil)) return false;
    await progress.beginPass({ canBeLastPass: false });
  }
  if (!(await cancelOpen(ports, slug, progress, until))) return false;
  for (let passes = 0; passes < maxPasses; passes++) {
    const isUnderWay = passes === 0 && progress.at.passSince !== undefined;
    if (!isUnderWay) await progress.beginPass({ canBeLastPass: await canBeLastPass(ports, slug) });
    if (!(await runPass(ports, slug, progress, until))) return false;
    const next = await planAfterPass(ports, slug, progress);
    if (next === "nothing") return remove(ports, slug);
    if (next === "another") continue;
    await progress.rest(next);
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

/** False if the time was up before all open runs were cancelled. */
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

/** Runs one pass over everything, from where it stopped. False if the time was up before the end. */
async function runPass(ports: ServicePorts, slug: string, progress: ErasureProgress, until: number): Promise<boolean> {
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
    if (execution.parent) await cancelIfOpen(ports, await findOutermostRun(ports, execution));
    await cancelIfOpen(ports, execution.id);
    await giveSlotsBack(ports, execution); // the process that cancelled the run may have crashed before this
    await eraseContents(ports, execution.id);
    await progress.renew();
  }
  // An unreadable record must not prevent the erasure of its run's contents.
  for (const id of page.unreadable ?? []) await eraseContents(ports, id);
  const seen = runs + page.items.length;
  if (page.cursor !== undefined) return progress.moveTo({ part: "executions", cursor: page.cursor, runs: seen });
  await ports.eraser.objects(client);
  return progress.moveTo({ part: "rest", runs: seen });
}
