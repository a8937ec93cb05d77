import type { Json } from "../../json.ts";
import type { Definition } from "./definition.ts";
import type { StateFailure } from "./failure.ts";
import { compileResultPath } from "./path.ts";
import type { Transition } from "./state.ts";

const retrierFields = new Set([
  ...["ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment"],
]);
const catcherFields = new Set(["ErrorEquals", "Next", "ResultPath", "Comment"]);

/** Step Functions' limit for a delay: a year and a day. */
const LONGEST_DELAY_SECONDS = 31_622_400;

/** Milliseconds until the next attempt; undefined if no retrier retries this failure any more. */
type DelayAfter = (failure: StateFailure) => number | undefined;

/**
 * Compiles `Retry`. Each visit of a state calls the returned function once, which sets all counts of attempts to 0.
 * Each retrier has its own count.
 */
export function compileRetry(definition: Definition): (random: () => number) => DelayAfter {
  const definitions = definition.children("Retry");
  assertAllIsLast(definitions);
  const retriers = definitions.map(compileRetrier);
  return (random) => countRetries(retriers, random);
}

/** Compiles one retrier. Its defaults are those of AWS Step Functions, "Error handling". */
function compileRetrier(definition: Definition) {
  definition.allowOnly(retrierFields);
  const jitter = definition.optionalText("JitterStrategy") ?? "NONE";
  if (jitter !== "FULL" && jitter !== "NONE") throw definition.reject("JitterStrategy", "must be FULL or NONE");
  return {
    errorEquals: errorEquals(definition),
    intervalSeconds: definition.optionalInteger("IntervalSeconds", 1, LONGEST_DELAY_SECONDS) ?? 1,
    maxAttempts: definition.optionalInteger("MaxAttempts", 0, 99_999_999) ?? 3,
    backoffRate: definition.optionalNumber("BackoffRate", 1) ?? 2,
    maxDelaySeconds:
      definition.optionalInteger("MaxDelaySeconds", 1, LONGEST_DELAY_SECONDS) ?? Number.POSITIVE_INFINITY,
    jitter: jitter === "FULL",
  };
}

function countRetries(retriers: ReturnType<typeof compileRetrier>[], random: () => number): DelayAfter {
  const attempts = retriers.map(() => 0);
  return (failure) => {
    const index = retriers.findIndex((retrier) => failure.matches(retrier.errorEquals));
    const retrier = retriers[index];
    const made = attempts[index];
    if (!retrier || made === undefined || made >= retrier.maxAttempts) return undefined;
    attempts[index] = made + 1;
    const delay = Math.min(retrier.intervalSeconds * retrier.backoffRate ** made, retrier.maxDelaySeconds);
    return delay * 1000 * (retrier.jitter ? random() : 1);
  };
}

/**
 * Returns the transition to the state that handles a failure. Its data is the failed state's input with Error and Cause
 * placed in it. Undefined if no catcher matches the failure.
 */
export type Catch = (failure: StateFailure, input: Json) => Transition | undefined;

export function compileCatch(definition: Definition): Catch {
  const definitions = definition.children("Catch");
  assertAllIsLast(definitions);
  for (const catcher of definitions) catcher.allowOnly(catcherFields);
  const catchers = definitions.map((catcher) => ({
    errorEquals: errorEquals(catcher),
    next: catcher.text("Next"),
    place: compileResultPath(catcher.get("ResultPath"), catcher.path("ResultPath")),
  }));
  return (failure, input) => {
    const catcher = catchers.find((one) => failure.matches(one.errorEquals));
    if (!catcher) return undefined;
    const error = { Error: failure.error ?? null, Cause: failure.details ?? null };
    return { output: catcher.place(input, error), next: catcher.next };
  };
}

function errorEquals(definition: Definition): string[] {
  const names = definition.get("ErrorEquals");
  if (Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string")) return names;
  throw definition.reject("ErrorEquals", "must be a list of error names");
}

/** Throws if a retrier or catcher with `States.ALL` has another name, too, or is not the last one. */
function assertAllIsLast(handlers: readonly Definition[]): void {
  for (const [index, handler] of handlers.entries()) {
    const names = errorEquals(handler);
    if (names.includes("States.ALL") && (names.length > 1 || index < handlers.length - 1)) {
      throw handler.reject("ErrorEquals", "must name States.ALL alone, and in the last place");
    }
  }
}
