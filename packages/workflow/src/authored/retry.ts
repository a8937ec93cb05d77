import { z } from "zod";
import { defined } from "../defined.ts";
import { longestDelaySeconds, maxPromptAttempts, maxRetryAttempts, type Retry } from "../retry.ts";
import { duration, filledText, flag, numberBetween } from "./fields.ts";

const onError = 'must be a list such as ["requests.exceptions.ConnectionError", "HTTPError 503", "NodeTimeout"]';
const delays = {
  min: 0,
  max: longestDelaySeconds,
  error: "must be whole seconds or a text such as 2s, 1m, 12h, at most a day",
};

export const AuthoredRetry = z
  .strictObject(
    {
      attempts: numberBetween(
        "whole",
        1,
        maxRetryAttempts,
        `must be a whole number from 1 to ${maxRetryAttempts}`,
      ).describe(
        `Runs in all, the first included: 1 to ${maxRetryAttempts}, of a prompt node to ${maxPromptAttempts}.`,
      ),
      delay: duration(
        "Time between two runs, `2s` or seconds, at most a day, default 1 s. Less than a second counts as one.",
        delays,
      ).prefault(1),
      backoff: numberBetween("any", 1, 10, "must be a number from 1 to 10")
        .describe("The factor from one delay to the next: 1 to 10, default 1.")
        .optional(),
      max_delay: duration("The limit of each delay, also with `backoff`; at most a day.", delays).optional(),
      jitter: flag(
        "Draws each delay between nothing and its length, so that many runs do not come back at once.",
      ).optional(),
      on: z
        .array(filledText("An error."), { error: onError })
        .min(1, { error: onError })
        .max(20, { error: onError })
        .describe("Errors after which it runs again. Absent: any failure of the node, but for a spent budget.")
        .optional(),
    },
    { error: 'must be an object such as { "attempts": 5, "delay": "2s" }' },
  )
  .describe(
    "Runs the node again when it fails, even if `effects` forbids that after a lost machine. See [Retry](#retry).",
  );

/** Leaves out default values, so that they do not change the text of a definition and its version. */
export function retryOf({ attempts, delay, backoff, max_delay, jitter, on }: z.output<typeof AuthoredRetry>): Retry {
  const optional = { backoff: backoff === 1 ? undefined : backoff, jitter: jitter || undefined, on };
  return defined({ attempts, delaySeconds: delay, maxDelaySeconds: max_delay, ...optional });
}
