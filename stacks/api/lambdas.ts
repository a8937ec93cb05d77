import { answersTasks, closesRuns, makesTriggers, startsRuns, usesCredentials } from "../engine/duties.ts";
import { fillPlans } from "../engine/lambda-plan.ts";

/** One function serves the API. It hands long work to other functions. */
export const apiLambdas = fillPlans({
  "nova-api": {
    file: "api/index",
    timeoutSeconds: 30,
    memoryMb: 1024,
    may: [
      ...new Set([...closesRuns, ...startsRuns, ...answersTasks, ...makesTriggers, ...usesCredentials]),
      "checking signatures",
      "new versions",
      "new definitions",
      "machine versions",
      "reviewed code",
      "gone credentials",
      "new clients",
      "changed clients",
      "keys",
      "new keys",
      "gone keys",
      "request rates",
      "repeated requests",
      "audit log",
      "list of the audit log",
      "figures of workflows",
      "deliveries",
      "sessions",
      "changed sessions",
      "new uploads",
      "new uploaded bytes",
      "whole events",
      "open list",
      "workflow lists",
      "labels",
      "client lists",
      "whole table",
    ],
  },
});
