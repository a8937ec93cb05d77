import { type Execution, ulidFrom } from "@nova/engine";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { restart } from "./restart.ts";

/**
 * Returns the run that a repeated request gets: the first run, or its restart if the process of the first run was
 * killed. A sender repeats a request that had no answer. Two concurrent repetitions create the same restart. Throws as
 * `restart` does.
 */
export async function continueRun(ports: ServicePorts, by: Principal, run: Execution): Promise<Execution> {
  if (run.status !== "interrupted" || run.erased) return run;
  const latest = run.restarts?.at(-1);
  const begun = latest === undefined ? undefined : await ports.executions.get(latest);
  if (begun?.restartedFrom === run.id) return continueRun(ports, by, begun);
  // A run names its restart before the restart starts, so after a crash the same restart starts.
  const ulid = latest?.slice("exec_".length) ?? ulidFrom(Date.parse(run.endedAt ?? run.startedAt), `again ${run.id}`);
  return restart(ports, by, run.id, { ulid });
}
