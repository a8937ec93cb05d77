import { closesRuns, makesTriggers, takesDeliveries, usesCredentials } from "../engine/duties.ts";
import { fillPlans } from "../engine/lambda-plan.ts";

/** The functions without a waiting caller. Each is in functions/service-functions.ts under its name. */
export const triggerLambdas = fillPlans({
  "nova-fire-trigger": { isAsynchronous: true, may: [...takesDeliveries, "whole events"] },
  "nova-receive-mail": {
    timeoutSeconds: 300,
    memoryMb: 1024,
    isAsynchronous: true,
    may: [...takesDeliveries, "incoming mail"],
  },
  "nova-poll-mailbox": {
    timeoutSeconds: 300,
    memoryMb: 1024,
    isAsynchronous: true,
    may: [...takesDeliveries, ...usesCredentials, "paused triggers"],
  },
  "nova-publish": {
    memoryMb: 1024,
    may: [
      ...makesTriggers,
      "versions",
      "new versions",
      "workflow lists",
      "clients",
      "client lists",
      "open list",
      "definitions",
      "new definitions",
      "absence",
      "machines",
      "machine versions",
      "old machines",
      "what machines run as",
    ],
  },
  "nova-notify": {
    may: [
      ...usesCredentials,
      "executions",
      "tasks",
      "versions",
      "definitions",
      "absence",
      "clients",
      "repeated requests",
      "mails",
    ],
  },
  "nova-erase": {
    timeoutSeconds: 900,
    isAsynchronous: true,
    may: [
      ...closesRuns,
      "open list",
      "client lists",
      "whole table",
      "contents of chains",
      "erased records",
      "erased objects",
      "sessions",
      "machines of drafts",
      "changed clients",
      "audit log",
      "undelivered events",
    ],
  },
  "nova-retain": { timeoutSeconds: 900, isAsynchronous: true, as: "nova-erase", may: [] },
});
