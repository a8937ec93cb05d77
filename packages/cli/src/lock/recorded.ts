import type { NovaClient } from "@nova/client";
import { hashOf, type LockedCode } from "@nova/workflow";
import { executionFrom, readTrace, readWhole, type ShownTrace } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { type Recorded, recordedIn } from "../replay/recorded.ts";

/**
 * What the latest executions of a workflow did in its nodes, newest first; those that go on still are left out. `max`:
 * executions whose chains are read at most; `full`: with the inputs of the nodes.
 */
export async function* latestRuns(
  nova: NovaClient,
  workflow: string,
  { max, full }: { max: number; full: boolean },
): AsyncGenerator<Recorded> {
  let read = 0;
  for await (const item of nova.executions.list({ workflow, limit: 25 })) {
    const { id, open } = executionFrom(item);
    if (open) continue;
    yield* newestFirst(await readTrace(nova, id, { full }));
    if (++read === max) return;
  }
}

/** The same of one execution. Throws `ApiProblem`, and `InvalidInput` where it is another workflow's. */
export async function* runsOf(nova: NovaClient, workflow: string, id: string): AsyncGenerator<Recorded> {
  const { execution } = await readWhole(nova, id);
  if (execution.workflowId !== workflow) {
    const wayOut = `nova executions --workflow ${workflow} lists its own`;
    throw new InvalidInput(`execution ${id} ran the workflow "${execution.workflowId}", not "${workflow}" - ${wayOut}`);
  }
  yield* newestFirst(await readTrace(nova, id, { full: true }));
}

function newestFirst(trace: ShownTrace): Recorded[] {
  return Array.from(recordedIn(trace)).reverse();
}

/** Whether a recorded run ran this code; code that needs an analysis, behind this one. */
export function hasRun({ code, analysis }: Pick<LockedCode, "code" | "analysis">, { entry }: Recorded): boolean {
  if (entry.code_hash !== hashOf(code)) return false;
  return analysis === undefined || entry.ai_metadata?.analysis_metadata?.analysis_code === analysis;
}
