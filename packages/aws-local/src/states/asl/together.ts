import type { Json } from "../../json.ts";
import { Cancelled } from "./failure.ts";
import { createChildController, type Thread } from "./thread.ts";

/**
 * Runs the branch or iteration with this index. `previous` is the last event of the branch or iteration that had to end
 * before this one could start; undefined if this one could start at once.
 */
export type RunOne = (
  index: number,
  previous: number | undefined,
  signal: AbortSignal,
) => Promise<{ output: Json; lastEventId: number }>;

/**
 * Runs `count` branches or iterations, at most `width` of them at a time. The first failure cancels the others. When
 * all have ended, it calls `onFailure` with the index of the failed one and throws its failure.
 * @throws Cancelled if `thread` itself was cancelled
 */
export async function runConcurrently(
  thread: Thread,
  count: number,
  width: number,
  runOne: RunOne,
  onFailure?: (index: number) => void,
): Promise<Json[]> {
  const { controller, release } = createChildController(thread.signal);
  const outputs: Json[] = new Array(count);
  let started = 0;
  let failure: { index: number; error: unknown } | undefined;

  async function work(): Promise<void> {
    let previous: number | undefined;
    while (started < count && !controller.signal.aborted) {
      const index = started++;
      try {
        const result = await runOne(index, previous, controller.signal);
        outputs[index] = result.output;
        previous = result.lastEventId;
      } catch (error) {
        if (!(error instanceof Cancelled)) failure ??= { index, error };
        controller.abort();
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(count, width) }, work));
  release();
  thread.assertRunning();
  if (!failure) return outputs;
  onFailure?.(failure.index);
  throw failure.error;
}

/** The types of states whose interruption appears in AWS's histories, with the types of the events. */
const ABORTED = {
  Task: "TaskStateAborted",
  Wait: "WaitStateAborted",
  Parallel: "ParallelStateAborted",
  Map: "MapStateAborted",
} as const;

/** Records in `thread` that an abort stopped `branch` in the middle of a state. */
export function recordAborted(branch: Thread, thread: Thread): void {
  const type = branch.current?.type;
  if (type !== undefined && type in ABORTED) thread.note(ABORTED[type as keyof typeof ABORTED]);
}
