import type { TaskNode } from "./workflow.ts";

/** A Lambda lives for 900 s, and needs the rest to start and to record. No Lambda waits for longer code. */
export const longestWaitedSeconds = 840;

/** E2B, largest plan: a sandbox lives for a day. */
export const longestNodeSeconds = 86_400;

/** Generated code has several attempts within one Lambda. */
export const longestPromptSeconds = 600;

/** A sandbox lives this much longer than its long code. */
export const sandboxMarginSeconds = 60;

/** True if the code outlives the Lambda that starts it. A task then checks on it from time to time. */
export function isLong({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): boolean {
  return timeoutSeconds > longestWaitedSeconds;
}

const pauses = { shortest: 5, longest: 300, share: 0.1 };

/** Seconds until the next check: a tenth of the running time. The sandbox outlives the timeout by a minute. */
export function pauseSeconds(elapsedSeconds: number, timeoutSeconds: number): number {
  const { shortest, longest, share } = pauses;
  const untilEnd = Math.ceil(timeoutSeconds - elapsedSeconds) + shortest;
  return Math.max(shortest, Math.min(longest, Math.round(elapsedSeconds * share), untilEnd));
}

/** The largest number of checks: the code uses all of its time, and the sandbox lives its whole life. */
export function maxChecks({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): number {
  let looks = 1;
  for (let elapsed = 0; elapsed < timeoutSeconds + sandboxMarginSeconds; looks++)
    elapsed += pauseSeconds(elapsed, timeoutSeconds);
  return looks;
}
