import type { Json } from "../../json.ts";
import { Cancelled } from "./failure.ts";
import { createChildController, type Thread } from "./thread.ts";

/** Runs the branch or iteration `index`. `previous` is the last event of the thread that freed its slot. */
export type RunOne = (
  index: number,
  previous: number | undefined,
  signal: AbortSignal,
) => Promise<{ output: Json; lastEventId: number }>;

/**
 * Runs `count` threads, `width` at a time. The first failure cancels the others. After all have ended, it passes the
 * failed one to `onFailure` and throws its failure.
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

/** The state types whose interruption AWS's histories show. */
const ABORTED = {
  Task: "TaskStateAborted",
  Wait: "WaitStateAborted",
  Parallel: "ParallelStateAborted",
  Map: "MapStateAborted",
} as const;

/** Records on `thread` that `branch` was stopped inside a state. */
export function recordAborted(branch: Thread, thread: Thread): void {
  const type = branch.current?.type;
  if (type !== undefined && type in ABORTED) thread.note(ABORTED[type as keyof typeof ABORTED]);
}
