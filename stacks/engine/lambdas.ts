import { answersTasks, closesRuns, followsRuns, masksSecrets, sendsEvents, usesCredentials } from "./duties.ts";
import { fillPlans } from "./lambda-plan.ts";

/** The functions that run workflows. Each is in functions/index.ts under its name. */
export const engineLambdas = fillPlans({
  "nova-run-node": {
    timeoutSeconds: 900,
    memoryMb: 1024,
    may: [
      ...new Set([...closesRuns, ...usesCredentials]),
      "new executions",
      "new labels",
      "open list",
      "new tasks",
      "generations",
      "spendings",
      "new spendings",
      "the models' key",
    ],
  },
  "nova-settle-node": { may: closesRuns },
  "nova-close-execution": { may: closesRuns },
  "nova-request-approval": {
    may: [
      ...followsRuns,
      ...masksSecrets,
      ...sendsEvents,
      "new tasks",
      "sealing",
      "whole events",
      "task answers",
      "E2B's key",
    ],
  },
  "nova-deliver-event": {
    isAsynchronous: true,
    may: [...followsRuns, ...answersTasks, "open list", "undelivered events", "large events", "whole events"],
  },
  "nova-execution-status": { isAsynchronous: true, may: [...closesRuns, "undelivered events"] },
  "nova-sweep": {
    timeoutSeconds: 300,
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
});
