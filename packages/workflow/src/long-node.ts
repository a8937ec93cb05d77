import type { TaskNode } from "./workflow.ts";

/**
 * The longest timeout of code for whose end a Lambda waits. A Lambda lives for 900 s, and needs the remaining time to
 * start the code and to record its outcome.
 */
export const longestWaitedSeconds = 840;

/** The longest timeout of a node: on E2B's largest plan, a sandbox lives for a day. */
export const longestNodeSeconds = 86_400;

/** The longest timeout of a prompt node, because generated code has several attempts within one Lambda. */
export const longestPromptSeconds = 600;

/** Seconds for which the sandbox of long code lives after the code's timeout. */
export const sandboxMarginSeconds = 60;

/**
 * Returns true if the code may outlive the Lambda that starts it, so that the task must check on it from time to time.
 */
export function isLong({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): boolean {
  return timeoutSeconds > longestWaitedSeconds;
}

const pauses = { shortest: 5, longest: 300, share: 0.1 };

/**
 * Returns the seconds until the next check: a tenth of the time that the code has run, and at most until just after its
 * timeout.
 */
export function pauseSeconds(elapsedSeconds: number, timeoutSeconds: number): number {
  const { shortest, longest, share } = pauses;
  const untilEnd = Math.ceil(timeoutSeconds - elapsedSeconds) + shortest;
  return Math.max(shortest, Math.min(longest, Math.round(elapsedSeconds * share), untilEnd));
}

/** Counts the checks of code that uses all of its time, until the end of its sandbox. */
export function maxChecks({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): number {
  let looks = 1;
  for (let elapsed = 0; elapsed < timeoutSeconds + sandboxMarginSeconds; looks++)
    elapsed += pauseSeconds(elapsed, timeoutSeconds);
  return looks;
}
