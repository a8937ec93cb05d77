import { cancelExecution } from "@nova/engine";
import { recordDeed } from "../audit/record.ts";
import type { ServicePorts } from "../ports/index.ts";
import { giveSlotsBack } from "../quotas/give-back.ts";
import { endRun } from "./end-run.ts";
import { eraseContents } from "./erase-execution.ts";
import { ErasureProgress } from "./progress.ts";

const pageSize = 50;
const countedAtOnce = 200;

/** Whoever looked at the client before it was marked, and begins a run behind that, is over by then: receive-mail has 300 s. */
const startersLiveMs = 330_000;

/** What a client leaves is looked through so often before the sweeper has to come again. */
const mostPasses = 5;

/**
 * Erases a client that was marked for it: keys first, so that nobody begins anything, then what is open, what its runs
 * knew, its objects, everything else that names it, and itself last: once nobody can begin a run any more who saw it
 * before, and a pass has found all there is. Who comes after a process that died, or when `until` (milliseconds since
 * the epoch) is over, goes on where it was. Answers whether all is done.
 */
export async function eraseClient(
  ports: ServicePorts,
  slug: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const client = await ports.clients.get(slug);
  if (!client?.erasing) return true;
  const progress = new ErasureProgress(ports, slug, client.erasing);
  await removeKeys(ports, slug);
  const { restsUntil } = client.erasing;
  if (restsUntil !== undefined) {
    if (ports.clock.now() < Date.parse(restsUntil)) return false;
    await progress.moveTo({ part: "executions" });
  }
  if (!(await cancelOpen(ports, slug, progress, until))) return false;
  for (let passes = 0; passes < mostPasses; passes++) {
    if (!(await passOver(ports, slug, progress, until))) return false;
    const restsUntil = startersEnd(ports, progress);
    if (restsUntil === null && !(await hasStragglers(ports, slug, progress.at.runs))) return remove(ports, slug);
    await progress.moveTo({ part: "executions", ...(restsUntil !== null && { restsUntil }) });
    if (restsUntil !== null) return false;
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
    else isOver = await eraseRest(ports, slug, progress);
  }
  return true;
}

async function eraseExecutions(ports: ServicePorts, client: string, progress: ErasureProgress): Promise<void> {
  const { cursor, runs = 0 } = progress.at;
  const page = await ports.executions.list({ client, limit: pageSize, ...(cursor !== undefined && { cursor }) });
  for (const execution of page.items) {
    if (execution.parent) await endRun(ports, execution.root);
    await endRun(ports, execution.id);
    await giveSlotsBack(ports, execution); // whoever cancelled it may have died before that
    await eraseContents(ports, execution.id);
    await progress.renew();
  }
  const seen = runs + page.items.length;
  if (page.cursor !== undefined) return progress.moveTo({ part: "executions", cursor: page.cursor, runs: seen });
  await ports.eraser.objects(client);
  return progress.moveTo({ part: "rest", runs: seen });
}

/** Answers whether that was the last of it. */
async function eraseRest({ eraser }: ServicePorts, client: string, progress: ErasureProgress): Promise<boolean> {
  const { cursor, runs = 0 } = progress.at;
  const next = await eraser.rest(client, cursor);
  if (next !== undefined) await progress.moveTo({ part: "rest", cursor: next, runs });
  return next === undefined;
}

/** ISO 8601, or null where none can begin a run any more who saw the client before. Without a queue they erase it themselves. */
function startersEnd({ clock, erasureQueue }: ServicePorts, { markedAt }: ErasureProgress): string | null {
  const end = Date.parse(markedAt) + startersLiveMs;
  return erasureQueue && clock.now() < end ? new Date(end).toISOString() : null;
}

/** Whether there are runs that the pass has not seen, or whose end it has not: records of runs stay, so their number tells. */
async function hasStragglers({ executions }: ServicePorts, client: string, seen = 0): Promise<boolean> {
  let runs = 0;
  let cursor: string | undefined;
  do {
    const page = await executions.list({ client, limit: countedAtOnce, ...(cursor !== undefined && { cursor }) });
    if (page.items.some(({ open }) => open)) return true;
    runs += page.items.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return runs > seen;
}
