import type { TaskNode } from "./workflow.ts";

/** A Lambda lives for 900 s, and the rest is for starting and recording: longer code is not waited for. */
export const longestWaitedSeconds = 840;

/** E2B, largest plan: a sandbox lives for a day. */
export const longestNodeSeconds = 86_400;

/** A model's code has several attempts in the time of one Lambda. */
export const longestPromptSeconds = 600;

/** Whether a node's code outlives the Lambda that begins it: then its task looks after it from time to time. */
export function isLong({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): boolean {
  return timeoutSeconds > longestWaitedSeconds;
}

const pauses = { shortest: 5, longest: 300, share: 0.1 };

/** Seconds until code that has run for so long is looked after again: a tenth of that, so that few ends are found late. */
export function pauseSeconds(elapsedSeconds: number): number {
  const { shortest, longest, share } = pauses;
  return Math.min(longest, Math.max(shortest, Math.round(elapsedSeconds * share)));
}

/** How often code that takes all of its time is looked after, at most. */
export function looksAfter({ timeoutSeconds }: Pick<TaskNode, "timeoutSeconds">): number {
  let looks = 1;
  for (let elapsed = 0; elapsed < timeoutSeconds; looks++) elapsed += pauseSeconds(elapsed);
  return looks;
}
