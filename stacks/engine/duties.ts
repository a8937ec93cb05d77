import type { Grant } from "../access/grants.ts";

/** Reads definitions and inputs, and writes records of runs. */
const writesRuns: readonly Grant[] = [
  "chain of work",
  "executions",
  "changed executions",
  "versions",
  "blobs",
  "definitions",
  "absence",
];

/** Permissions to find the position of a run and to continue its chain. */
export const followsRuns: readonly Grant[] = [...writesRuns, "tasks", "wakes", "shapes of events"];

/** Reads credentials to mask their values. */
export const masksSecrets: readonly Grant[] = ["credentials", "opening credentials"];

/** Puts events on the bus, including large ones. */
export const sendsEvents: readonly Grant[] = ["events", "large events"];

/** Updates statistics, releases slots, and starts queued runs. */
const looksAfterRuns: readonly Grant[] = ["figures", "written code", "queues", "clients", "run starts"];

/** Ends a run and its child executions: signs, stops state machines, kills sandboxes. */
export const closesRuns: readonly Grant[] = [
  ...followsRuns,
  ...masksSecrets,
  ...looksAfterRuns,
  ...sendsEvents,
  "signing",
  "runs",
  "ends of runs",
  "E2B's key",
];

export const answersTasks: readonly Grant[] = ["unsealing", "task answers"];

/** Starts a run of a client, or queues it. */
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
 * Starts a run of a trigger and records the delivery. For a deleted client it sends an event, which a function with
 * permission to end the run handles.
 */
export const takesDeliveries: readonly Grant[] = [
  ...startsRuns,
  "events",
  "triggers",
  "deliveries",
  "undelivered events",
];

/** Reads the values of credentials, and refreshes expired ones. */
export const usesCredentials: readonly Grant[] = [...masksSecrets, "refreshed credentials", "sealing credentials"];

/** Creates and removes the triggers of a workflow. */
export const makesTriggers: readonly Grant[] = [
  "triggers",
  "new triggers",
  "rules of triggers",
  "targets of rules",
  "schedules",
  "what schedules run as",
];
