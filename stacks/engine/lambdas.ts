import { answersTasks, closesRuns, followsRuns, masksSecrets, tells, usesCredentials } from "./duties.ts";
import type { LambdaPlan } from "./lambda-plan.ts";

/** The functions that run workflows, each of functions/index.ts under its name there. */
export const engineLambdas = {
  "nova-run-node": {
    file: "run-node",
    timeoutSeconds: 900,
    memoryMb: 1024,
    may: [
      ...new Set([...closesRuns, ...usesCredentials]),
      "new executions",
      "open list",
      "new tasks",
      "generations",
      "spendings",
      "new spendings",
      "the models' key",
    ],
  },
  "nova-settle-node": { file: "settle-node", timeoutSeconds: 120, memoryMb: 512, may: closesRuns },
  "nova-close-execution": { file: "close-execution", timeoutSeconds: 120, memoryMb: 512, may: closesRuns },
  "nova-request-approval": {
    file: "request-approval",
    timeoutSeconds: 120,
    memoryMb: 512,
    may: [
      ...followsRuns,
      ...masksSecrets,
      ...tells,
      "new tasks",
      "sealing",
      "whole events",
      "task answers",
      "E2B's key",
    ],
  },
  "nova-deliver-event": {
    file: "deliver-event",
    timeoutSeconds: 120,
    memoryMb: 512,
    isAsynchronous: true,
    may: [...followsRuns, ...answersTasks, "open list", "undelivered events", "large events", "whole events"],
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
    may: [
      ...closesRuns,
      ...answersTasks,
      "lost publications",
      "open list",
      "client lists",
      "run lists",
      "undelivered events",
    ],
  },
} as const satisfies Record<string, LambdaPlan>;
