import type { Definition } from "./definition.ts";
import type { StateFailure } from "./failure.ts";

interface Retrier {
  errorEquals: string[];
  intervalSeconds: number;
  maxAttempts: number;
  backoffRate: number;
  maxDelaySeconds: number;
  jitter: boolean;
}

/** Counts the attempts of one stay in a state: each retrier has a count of its own. */
export interface Retries {
  /** Milliseconds to wait before the next attempt; undefined where nothing retries this failure any more. */
  delayAfter(failure: StateFailure): number | undefined;
}

/** Compiles `Retry`; the result makes a fresh count for each stay. */
export function compileRetry(definition: Definition): (random: () => number) => Retries {
  const retriers = definition.children("Retry").map(compileRetrier);
  return (random) => countRetries(retriers, random);
}

/** Defaults: AWS Step Functions, "Error handling". */
function compileRetrier(definition: Definition): Retrier {
  return {
    errorEquals: errorEquals(definition),
    intervalSeconds: definition.optionalNumber("IntervalSeconds") ?? 1,
    maxAttempts: definition.optionalNumber("MaxAttempts") ?? 3,
    backoffRate: definition.optionalNumber("BackoffRate") ?? 2,
    maxDelaySeconds: definition.optionalNumber("MaxDelaySeconds") ?? Number.POSITIVE_INFINITY,
    jitter: definition.optionalText("JitterStrategy") === "FULL",
  };
}

function countRetries(retriers: Retrier[], random: () => number): Retries {
  const attempts = retriers.map(() => 0);
  return {
    delayAfter(failure) {
      const index = retriers.findIndex((retrier) => failure.matches(retrier.errorEquals));
      const retrier = retriers[index];
      const made = attempts[index];
      if (!retrier || made === undefined || made >= retrier.maxAttempts) return undefined;
      attempts[index] = made + 1;
      const delay = Math.min(retrier.intervalSeconds * retrier.backoffRate ** made, retrier.maxDelaySeconds);
      return delay * 1000 * (retrier.jitter ? random() : 1);
    },
  };
}

export function errorEquals(definition: Definition): string[] {
  const names = definition.get("ErrorEquals");
  if (Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string")) return names;
  throw definition.reject("ErrorEquals", "must be a list of error names");
}
