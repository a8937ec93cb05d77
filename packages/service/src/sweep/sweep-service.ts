import { noRuns, noTasks, type Swept, sweepRuns, sweepTasks, type TimeBudget } from "@nova/engine";
import { sweepErasures } from "../erasing/delete-client.ts";
import type { ServicePorts } from "../ports/index.ts";
import { sweepPublications } from "../publishing/sweep-publications.ts";
import { sweepTriggers } from "../publishing/sweep-triggers.ts";
import { sweepQueues } from "../quotas/sweep-queues.ts";
import { type SweepTime, timeBudgetWithin } from "./time-budget.ts";

export interface SweptService extends Swept {
  /** Runs that waited for a slot. */
  queued: number;
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
  const { open, ...runs } = (await part("runs", (timeBudget) => sweepRuns(ports, timeBudget))) ?? noRuns();
  const tasks = await part("tasks", (timeBudget) => sweepTasks(ports, open, timeBudget));
  const queued = await part("queues", (timeBudget) => sweepQueues(ports, timeBudget));
  await part("publications", () => sweepPublications(ports));
  await part("triggers", () => sweepTriggers(ports));
  await part("erasures", () => sweepErasures(ports));
  return { ...runs, tasks: tasks ?? noTasks(), queued: queued ?? 0, broken };
}
