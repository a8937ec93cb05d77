import type { NovaClient } from "@nova/client";
import { hashOf, type LockedCode } from "@nova/workflow";
import { executionFrom, readTrace, readWhole, type ShownTrace } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { listRecorded, type Recorded } from "../replay/recorded.ts";

/**
 * Yields recorded runs of nodes in the latest ended executions of a workflow, newest first. `max` limits the number of
 * executions; `full` includes the inputs of the nodes.
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

/** Yields the recorded runs of one execution. Throws `ApiProblem`, or `InvalidInput` if it ran another workflow. */
export async function* runsOfExecution(nova: NovaClient, workflow: string, id: string): AsyncGenerator<Recorded> {
  const { execution } = await readWhole(nova, id);
  if (execution.workflowId !== workflow) {
    const wayOut = `nova executions --workflow ${workflow} lists its own`;
    throw new InvalidInput(`execution ${id} ran the workflow "${execution.workflowId}", not "${workflow}" - ${wayOut}`);
  }
  yield* newestFirst(await readTrace(nova, id, { full: true }));
}

function newestFirst(trace: ShownTrace): Recorded[] {
  return Array.from(listRecorded(trace)).reverse();
}

/** Whether a recorded run used this code, and the same analysis if the code needs one. */
export function ranCode({ code, analysis }: Pick<LockedCode, "code" | "analysis">, { entry }: Recorded): boolean {
  if (entry.code_hash !== hashOf(code)) return false;
  return analysis === undefined || entry.ai_metadata?.analysis_metadata?.analysis_code === analysis;
}
