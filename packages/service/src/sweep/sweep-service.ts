import { noRuns, noTasks, type Swept, sweepIdle, sweepRuns, sweepTasks, type TimeBudget } from "@nova/engine";
import { sweepErasures } from "../erasing/erase-client.ts";
import type { ServicePorts } from "../ports/index.ts";
import { sweepPublications, sweepTriggers } from "../publishing/publish-version.ts";
import { sweepQueues } from "../quotas/queue.ts";
import { findActive } from "../workflows/find.ts";

export interface SweepTime {
  signal?: AbortSignal;
  /** Returns the remaining milliseconds; absent: unlimited. */
  leftMs?(): number;
}

/**
 * Creates a budget of half the remaining time, so that time remains for every later part. Later parts can use what this
 * part does not use.
 */
function timeBudgetWithin({ signal, leftMs }: SweepTime): TimeBudget {
  const keptMs = leftMs && leftMs() / 2;
  return {
    get aborted() {
      return signal?.aborted === true || (leftMs !== undefined && leftMs() <= Number(keptMs));
    },
  };
}

export interface SweptService extends Swept {
  queued: number;
  /** Number of existing sandboxes, each of which costs money until it ends. Absent: E2B did not answer. */
  sandboxes?: number;
  broken: { part: string; error: unknown }[];
}

/**
 * Continues everything that a crash interrupted: runs, tasks, queues, publications, triggers, erasures. If a part fails
 * or exceeds its time budget, later parts still run.
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
  const isActive = async (id: string, version: number) => (await findActive(ports, id)).version?.version === version;
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

/** Ignores an outage of E2B: only a dashboard needs the count. */
function unlessUnavailable(error: Error): undefined {
  if (error.name !== "SandboxUnavailable") throw error;
}
