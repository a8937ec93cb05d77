import { verifyRuns } from "../executions/executions.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { DailyCheck } from "../ports/roots.ts";

/** Number of runs that a slice verifies between two writes of the progress. */
const runsPerPage = 20;

/** Maximum number of broken runs whose ids the progress keeps. The log has the ids of all broken runs. */
const maxBroken = 100;

const checker: Principal = { id: "nova-verify", role: "viewer", client: null, name: "the daily check" };

type CheckPorts = Parameters<typeof verifyRuns>[0] & Pick<ServicePorts, "dailyChecks" | "clock">;

export interface SliceOptions {
  /** No page starts after this time: milliseconds since the epoch. */
  until: number;
  /** Number of runs in a page. */
  page?: number;
  onBroken(execution: string, problem: string): void;
}

/**
 * Runs one slice of the daily check, which verifies the chains of all runs, the newest first. The slice ends at
 * `until`, and the next slice continues after the last page of this slice. The slice calls `onBroken` for each broken
 * run. Two slices at the same time do no harm, because only one of them can store its progress. Returns the progress,
 * and how many runs this slice has verified.
 */
export async function verifySlice(ports: CheckPorts, { until, page = runsPerPage, onBroken }: SliceOptions) {
  let known = await ports.dailyChecks.read();
  let check = known ?? newCheck(ports, 0);
  // A new check continues the revision numbers of the previous check. Otherwise a slice would not notice that another
  // slice has begun the new check.
  if (check.isDone && check.day !== todayIn(ports)) check = newCheck(ports, check.revision);
  let runs = 0;
  while (!check.isDone && ports.clock.now() < until) {
    const { items, cursor } = await verifyRuns(ports, checker, {
      limit: page,
      ...(check.cursor !== undefined && { cursor: check.cursor }),
    });
    const broken = items.filter(({ found }) => found.state === "broken");
    for (const { id, found } of broken) onBroken(id, found.problem?.message ?? "");
    const { cursor: _, ...counted } = check;
    const next: DailyCheck = {
      ...counted,
      runs: check.runs + items.length,
      broken: check.broken + broken.length,
      brokenRuns: [...check.brokenRuns, ...broken.map(({ id }) => id)].slice(0, maxBroken),
      isDone: cursor === undefined,
      revision: check.revision + 1,
      ...(cursor !== undefined && { cursor }),
    };
    runs += items.length;
    if (!(await ports.dailyChecks.write(next, known))) break;
    known = check = next;
  }
  return { check, runs };
}

function newCheck(ports: Pick<CheckPorts, "clock">, revision: number): DailyCheck {
  return { day: todayIn(ports), runs: 0, broken: 0, brokenRuns: [], isDone: false, revision };
}

function todayIn({ clock }: Pick<CheckPorts, "clock">): string {
  return new Date(clock.now()).toISOString().slice(0, 10);
}
