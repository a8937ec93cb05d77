import type { TaskNode } from "./workflow.ts";

/** A Lambda lives for 900 s, and the rest is for starting and recording: longer code is not waited for. */
export const longestWaitedSeconds = 840;

/** E2B, largest plan: a sandbox lives for a day. */
export const longestNodeSeconds = 86_400;

/** A model's code has several attempts in the time of one Lambda. */
export const longestPromptSeconds = 600;

/** A sandbox lives this much longer than the long code that it is made for. */
export const sandboxMarginSeconds = 60;

/** Whether a node's code outlives the Lambda that begins it: then its task looks after it from time to time. */
export function isLong({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): boolean {
  return timeoutSeconds > longestWaitedSeconds;
}

const pauses = { shortest: 5, longest: 300, share: 0.1 };

/**
 * Seconds until code that has run for so long is looked after again: a tenth of that, so that few ends are found late.
 * The end of its time is not slept through: the sandbox, and with it the result, lives for a minute more.
 */
export function pauseSeconds(elapsedSeconds: number, timeoutSeconds: number): number {
  const { shortest, longest, share } = pauses;
  const untilEnd = Math.ceil(timeoutSeconds - elapsedSeconds) + shortest;
  return Math.max(shortest, Math.min(longest, Math.round(elapsedSeconds * share), untilEnd));
}

/** How often code that takes all of its time, and its sandbox all of its life, is looked after at most. */
export function looksAfter({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): number {
  let looks = 1;
  for (let elapsed = 0; elapsed < timeoutSeconds + sandboxMarginSeconds; looks++)
    elapsed += pauseSeconds(elapsed, timeoutSeconds);
  return looks;
}
