import { StateFailure } from "./failure.ts";

/** Step Functions: input or output of a task, state or execution, as UTF-8. */
export const DATA_LIMIT_BYTES = 256 * 1024;

/** True without counting for nearly every text: a UTF-16 unit takes one to three bytes. */
export function exceedsDataLimit(text: string): boolean {
  if (text.length > DATA_LIMIT_BYTES) return true;
  return text.length * 3 > DATA_LIMIT_BYTES && Buffer.byteLength(text) > DATA_LIMIT_BYTES;
}

/** `owner` is the state's name, or for a task's own result its resource. */
export function assertWithinDataLimit(text: string, owner: string): void {
  if (!exceedsDataLimit(text)) return;
  throw new StateFailure(
    "States.DataLimitExceeded",
    `The state/task '${owner}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}
