import { type Execution, ulidFrom } from "@nova/engine";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { restart } from "./restart.ts";

/**
 * The run that a repeated request gets: the first one, or the restart of it if its process was killed. A sender repeats
 * because the first request had no result. Two repetitions at a time make the same restart. Throws as `restart`.
 */
export async function continueRun(ports: ServicePorts, by: Principal, run: Execution): Promise<Execution> {
  if (run.status !== "interrupted" || run.erased) return run;
  const latest = run.restarts?.at(-1);
  const begun = latest === undefined ? undefined : await ports.executions.get(latest);
  if (begun?.restartedFrom === run.id) return continueRun(ports, by, begun);
  // A run names its restart before the restart begins: after a crash in between, the same restart begins.
  const ulid = latest?.slice("exec_".length) ?? ulidFrom(Date.parse(run.endedAt ?? run.startedAt), `again ${run.id}`);
  return restart(ports, by, run.id, { ulid });
}
