import type { Grant } from "../access/grants.ts";

/** Reads what is to be run, and writes what was. */
const writesRuns: readonly Grant[] = [
  "chain of work",
  "executions",
  "changed executions",
  "versions",
  "blobs",
  "definitions",
  "absence",
];

/** What it takes to find out where a run is, and to go on with its chain. */
export const followsRuns: readonly Grant[] = [...writesRuns, "tasks", "wakes", "shapes of events"];

/** Knows what of credentials must not be kept. */
export const masksSecrets: readonly Grant[] = ["credentials", "opening credentials"];

/** Puts events of its own on the bus, those that are too large for it, too. */
export const tells: readonly Grant[] = ["events", "large events"];

/** Counts what a run did, gives its slots back, and begins who waited for them. */
const looksAfterRuns: readonly Grant[] = ["figures", "written code", "queues", "clients", "run starts"];

/** Ends a run, and the executions inside of it: signs, stops state machines, kills sandboxes. */
export const closesRuns: readonly Grant[] = [
  ...followsRuns,
  ...masksSecrets,
  ...looksAfterRuns,
  ...tells,
  "signing",
  "runs",
  "ends of runs",
  "E2B's key",
];

export const answersTasks: readonly Grant[] = ["unsealing", "task answers"];

/** Starts a run of a client, or has it wait in a queue. */
export const startsRuns: readonly Grant[] = [
  ...writesRuns,
  "new executions",
  "new labels",
  "shapes of events",
  "clients",
  "queues",
  "spendings",
  "uploads",
  "uploaded bytes",
  "run starts",
  "runs",
];

/**
 * Starts a run of a trigger, and leaves a record of what came in. A run of a client that was deleted meanwhile is an event,
 * for whoever may end it.
 */
export const takesDeliveries: readonly Grant[] = [
  ...startsRuns,
  "events",
  "triggers",
  "deliveries",
  "undelivered events",
];

/** Reads the values of credentials for itself; what expires it gets anew. */
export const usesCredentials: readonly Grant[] = [...masksSecrets, "refreshed credentials", "sealing credentials"];

/** Makes triggers of a workflow real, and takes them back. */
export const makesTriggers: readonly Grant[] = [
  "triggers",
  "new triggers",
  "rules of triggers",
  "targets of rules",
  "schedules",
  "what schedules run as",
];
