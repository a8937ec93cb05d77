import type { Grant } from "../access/grants.ts";

export interface LambdaPlan {
  /** File below functions/ that exports `handler`. */
  file: string;
  timeoutSeconds: number;
  memoryMb: number;
  /** Invoked by rules and schedules, which do not wait: what fails is kept. */
  isAsynchronous?: boolean;
  may: readonly Grant[];
}

/** What every function of the engine does: find out where a run is, and go on with its chain. */
const followsRuns: readonly Grant[] = [
  "chain of work",
  "executions",
  "tasks",
  "versions",
  "blobs",
  "definitions",
  "absence",
];

/** Knows what of credentials must not be kept. */
const masksSecrets: readonly Grant[] = ["credentials", "opening credentials"];

/** Counts what a run did, gives its slots back, and begins who waited for them. */
const looksAfterRuns: readonly Grant[] = ["figures", "written code", "queues", "clients", "run starts"];

/** Ends a run, and the executions inside of it: signs, stops state machines, kills sandboxes. */
const closesRuns: readonly Grant[] = [
  ...followsRuns,
  ...masksSecrets,
  ...looksAfterRuns,
  "signing",
  "runs",
  "events",
  "E2B's key",
];

const answersTasks: readonly Grant[] = ["unsealing", "task answers"];

/** Each function of functions/index.ts under its name there. Memory is also its share of a processor. */
export const lambdas = {
  "nova-run-node": {
    file: "run-node",
    timeoutSeconds: 900,
    memoryMb: 1024,
    may: [
      ...closesRuns,
      "refreshed credentials",
      "sealing credentials",
      "new executions",
      "generations",
      "spendings",
      "the models' key",
    ],
  },
  "nova-settle-node": { file: "settle-node", timeoutSeconds: 120, memoryMb: 512, may: closesRuns },
  "nova-close-execution": { file: "close-execution", timeoutSeconds: 120, memoryMb: 512, may: closesRuns },
  "nova-request-approval": {
    file: "request-approval",
    timeoutSeconds: 120,
    memoryMb: 512,
    may: [...followsRuns, ...masksSecrets, "new tasks", "sealing", "task answers", "events", "E2B's key"],
  },
  "nova-deliver-event": {
    file: "deliver-event",
    timeoutSeconds: 120,
    memoryMb: 512,
    isAsynchronous: true,
    may: [...followsRuns, ...answersTasks, "open list", "undelivered events", "whole events"],
  },
  "nova-execution-status": {
    file: "execution-status",
    timeoutSeconds: 120,
    memoryMb: 512,
    isAsynchronous: true,
    may: [...closesRuns, "undelivered events"],
  },
  "nova-sweep": {
    file: "sweep",
    timeoutSeconds: 300,
    memoryMb: 512,
    isAsynchronous: true,
    may: [...closesRuns, ...answersTasks, "open list", "client lists", "run lists", "undelivered events"],
  },
} as const satisfies Record<string, LambdaPlan>;

export type LambdaName = keyof typeof lambdas;
