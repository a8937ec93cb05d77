import { noRuns, noTasks, type Swept, sweepIdle, sweepRuns, sweepTasks, type TimeBudget } from "@nova/engine";
import { sweepErasures } from "../erasing/delete-client.ts";
import type { ServicePorts } from "../ports/index.ts";
import { sweepPublications, sweepTriggers } from "../publishing/hand-over.ts";
import { sweepQueues } from "../quotas/queue.ts";
import { activeNow } from "../workflows/find.ts";

/** The time of whoever sweeps. */
export interface SweepTime {
  /** Ends everything. */
  signal?: AbortSignal;
  /** Milliseconds that are left; absent: as long as it takes. */
  leftMs?(): number;
}

/** At most half of the time that is left, so that every part behind has its turn; what it does not use is theirs. */
export function timeBudgetWithin({ signal, leftMs }: SweepTime): TimeBudget {
  const keptMs = leftMs && leftMs() / 2;
  return {
    get aborted() {
      return signal?.aborted === true || (leftMs !== undefined && leftMs() <= Number(keptMs));
    },
  };
}

export interface SweptService extends Swept {
  /** Runs that waited for a slot. */
  queued: number;
  /** Sandboxes that there are now: each is paid until it ends. Absent: E2B could not be asked. */
  sandboxes?: number;
  /** Parts that could not be swept; the next sweep tries again. */
  broken: { part: string; error: unknown }[];
}

/**
 * What died anywhere in the service goes on: runs, tasks, queues, publications, triggers, clients that are being
 * erased. A part that fails, or has more to do than its time budget lasts, takes nothing from those behind it.
 */
export async function sweepService(ports: ServicePorts, time: SweepTime = {}): Promise<SweptService> {
  const broken: SweptService["broken"] = [];
  const part = async <T>(name: string, work: (timeBudget: TimeBudget) => Promise<T>): Promise<T | undefined> => {
    if (time.signal?.aborted) return undefined;
    try {
      return await work(timeBudgetWithin(time));
    } catch (error) {
      broken.push({ part: name, error });
      return undefined;
    }
  };
  const isActive = async (id: string, version: number) => (await activeNow(ports, id)).version?.version === version;
  const { open, ...runs } = (await part("runs", (timeBudget) => sweepRuns(ports, timeBudget))) ?? noRuns();
  const tasks = await part("tasks", (timeBudget) => sweepTasks(ports, open, timeBudget));
  const queued = await part("queues", (timeBudget) => sweepQueues(ports, timeBudget));
  await part("sandboxes", (timeBudget) => sweepIdle(ports, isActive, timeBudget));
  const sandboxes = await part("count of sandboxes", () => ports.sandboxes.count().catch(unlessUnavailable));
  await part("publications", () => sweepPublications(ports));
  await part("triggers", () => sweepTriggers(ports));
  await part("erasures", () => sweepErasures(ports));
  return {
    ...runs,
    tasks: tasks ?? noTasks(),
    queued: queued ?? 0,
    ...(sandboxes !== undefined && { sandboxes }),
    broken,
  };
}

/** What only a dashboard would miss is no reason for a sweep to fail. */
function unlessUnavailable(error: Error): undefined {
  if (error.name !== "SandboxUnavailable") throw error;
}
