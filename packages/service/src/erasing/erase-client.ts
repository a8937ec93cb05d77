import { cancelExecution } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import { buildDeed, recordDeed } from "../audit/audit.ts";
import { clientOf, listAllClients } from "../clients/clients.ts";
import type { Erasing } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { everyItem, everyListed, type Range } from "../ports/page.ts";
import { giveSlotsBack } from "../quotas/fill.ts";
import { cancelIfOpen, eraseContents, findOutermostRun, removeSessionsOf } from "./erase-run.ts";

const pageSize = 50;

/** Maximum number of passes in one call. After these passes the call ends, and the sweeper starts the next call. */
const maxPasses = 5;

/**
 * Erases a deleted client. First it removes the client's keys and sessions, so that the client starts nothing new. Then
 * it cancels the open runs, and erases the contents of all runs, the client's objects, and everything else that names
 * the client. It removes the client's record only after a last pass. When that pass begins, no process is left that
 * could start a run of the client, or store results of such a run. After a crash, or after `until` (milliseconds since
 * the epoch), a later call continues. Returns whether the erasure is complete.
 */
export async function eraseClient(ports: ServicePorts, slug: string, until = Number.POSITIVE_INFINITY) {
  const client = await ports.clients.get(slug);
  if (!client?.erasing) return true;
  // Writes the audit record of the deletion, since the process that marked the client may have crashed before writing
  // it.
  if (client.erasing.deed) await ports.audit.append(client.erasing.deed);
  const progress = trackProgress(ports, slug, client.erasing);
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
  const list = (range: Range) => keys.list({ ...range, client });
  for await (const { id } of everyListed(list, (key) => key.id)) await keys.remove(id);
}

/** Cancels the client's open runs. Returns false if `until` was reached before all of them were cancelled. */
async function cancelOpen(ports: ServicePorts, client: string, progress: ErasureProgress, until: number) {
  for await (const record of ports.executions.open()) {
    if (ports.clock.now() >= until) return false;
    if (record.client === client && !record.parent) await cancelExecution(ports, record.id);
    await progress.renew();
  }
  return true;
}

/**
 * Runs one pass over everything, or the rest of a pass that was interrupted. Returns false if `until` was reached
 * before the end of the pass.
 */
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
    // The process that cancelled the run may have crashed before it gave the slots back.
    await giveSlotsBack(ports, execution);
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

/** Milliseconds without progress after which an erasure counts as lost. */
const lostMs = 120_000;

/**
 * Marks a client as deleted, so no run starts for it. Returns whether the client is already erased. Throws `NotFound`,
 * and `Forbidden` if the caller's key is for one client.
 */
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

/** Enqueues erasures again that are lost, or whose pause is over. Returns the slugs of their clients. */
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

/**
 * Interval in milliseconds at which a process reports that it still works on an erasure. The interval is shorter than
 * `lostMs`, so the sweeper does not start a second process for the same erasure.
 */
const renewedMs = 30_000;

type ErasureProgress = ReturnType<typeof trackProgress>;

/** Tracks the progress of a client's erasure, and stores it in the client's record. */
function trackProgress({ clients, clock }: ServicePorts, client: string, stored: Erasing) {
  let at = stored;
  /** ISO 8601: when the client was deleted. */
  const markedAt = stored.markedAt ?? stored.since;
  const now = () => new Date(clock.now()).toISOString();
  const put = async (place: Omit<Erasing, "by" | "since" | "markedAt">) => {
    at = { by: stored.by, markedAt, since: now(), ...place };
    await clients.update(client, { erasing: at });
  };
  return {
    markedAt,
    get at(): Readonly<Erasing> {
      return at;
    },
    beginPass: ({ canBeLastPass }: { canBeLastPass: boolean }) =>
      put(defined({ part: "executions" as const, passSince: canBeLastPass ? now() : undefined })),
    moveTo: (place: Pick<Erasing, "part" | "cursor" | "runs">) =>
      put({ ...place, ...defined({ passSince: at.passSince }) }),
    /** Pauses the erasure until the given time, in milliseconds since the epoch. */
    rest: (until: number) => put({ part: "executions", restsUntil: new Date(until).toISOString() }),
    /** Updates the time of the last step during long work. */
    async renew() {
      if (clock.now() - Date.parse(at.since) < renewedMs) return;
      const { by: _, since: __, markedAt: ___, ...place } = at;
      await put(place);
    },
  };
}

/**
 * Milliseconds from the deletion of a client until no process can start a run for it any more. A process may have read
 * the client before the deletion, and the Lambda receive-mail may run for 300 s.
 */
const startersLiveMs = 330_000;

/**
 * Milliseconds from the end of a run until no node of the run can store an answer of a model any more. The Lambda
 * run-node may run for 900 s.
 */
const writersLiveMs = 930_000;

/** Milliseconds before this process checks again whether it still runs nodes of the client. */
const againMs = 30_000;

const countedAtOnce = 200;

/**
 * A summary of the client's runs. Erased runs keep their records. So if `count` is greater than the number of runs that
 * a pass has seen, new runs have started.
 */
interface Runs {
  count: number;
  isOpen: boolean;
  /** Milliseconds since the epoch: the latest end of a run. */
  endedMs: number;
}

/** Returns whether a pass that starts now can be the last pass, because this process runs no node of the client. */
async function canBeLastPass({ inFlight, executions }: ServicePorts, client: string): Promise<boolean> {
  const records = await Promise.all(inFlight.runs.map((id) => executions.get(id)));
  return !records.some((record) => record?.client === client);
}

/**
 * Decides what follows a pass: "nothing", "another" pass immediately, or the time of another pass in milliseconds since
 * the epoch. That is the next time at which processes that could still store something must have ended.
 */
async function planAfterPass(ports: ServicePorts, client: string, progress: ErasureProgress) {
  const runs = await summarizeRuns(ports, client);
  const { passSince, runs: seen = 0 } = progress.at;
  const now = ports.clock.now();
  if (runs.isOpen || runs.count > seen) return "another";
  if (passSince === undefined) return now + againMs;
  // With a queue, functions run in other processes, and only their maximum run time shows when they have ended.
  const ends = ports.erasureQueue
    ? [Date.parse(progress.markedAt) + startersLiveMs, runs.endedMs + writersLiveMs]
    : [runs.endedMs];
  const later = ends.filter((end) => end > now);
  if (later.length > 0) return Math.min(...later);
  return ends.every((end) => end <= Date.parse(passSince)) ? "nothing" : "another";
}

async function summarizeRuns({ executions }: ServicePorts, client: string): Promise<Runs> {
  const found: Runs = { count: 0, isOpen: false, endedMs: 0 };
  const pageAt = (cursor?: string) => executions.list(defined({ client, limit: countedAtOnce, cursor }));
  for await (const { open, endedAt } of everyItem(pageAt)) {
    found.count += 1;
    found.isOpen ||= open;
    if (endedAt !== undefined) found.endedMs = Math.max(found.endedMs, Date.parse(endedAt));
  }
  return found;
}
