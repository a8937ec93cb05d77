import "./with-compiler.ts";
import type { LambdaContext } from "./app.ts";
import { handler as closeExecution } from "./close-execution.ts";
import { handler as deliverEvent } from "./deliver-event.ts";
import { handler as executionStatus } from "./execution-status.ts";
import { handler as requestApproval } from "./request-approval.ts";
import { handler as runNode } from "./run-node.ts";
import { handler as settleNode } from "./settle-node.ts";

export { createPorts, warmPorts } from "./app.ts";
export { provideTemplates, resetServicePorts, warmServicePorts } from "./service-app.ts";

/** Every function by its deployed name. */
export const functions = {
  "nova-run-node": { handler: runNode, timeoutSeconds: 900 },
  "nova-settle-node": { handler: settleNode, timeoutSeconds: 120 },
  "nova-close-execution": { handler: closeExecution, timeoutSeconds: 120 },
  "nova-request-approval": { handler: requestApproval, timeoutSeconds: 120 },
  "nova-deliver-event": { handler: deliverEvent, timeoutSeconds: 120 },
  "nova-execution-status": { handler: executionStatus, timeoutSeconds: 120 },
  "nova-sweep": { handler: lazyHandler(() => import("./sweep.ts")), timeoutSeconds: 300 },
  "nova-verify": { handler: lazyHandler(() => import("./verify.ts")), timeoutSeconds: 900 },
  "nova-prove": { handler: lazyHandler(() => import("./prove.ts")), timeoutSeconds: 300 },
};

interface Module {
  handler(event: never, context: LambdaContext): Promise<unknown>;
}

/**
 * Creates a handler that loads its module at the first invocation. So a process that only runs nodes does not load the
 * service.
 */
function lazyHandler(load: () => Promise<Module>) {
  return async (event: unknown, context: LambdaContext): Promise<unknown> =>
    (await load()).handler(event as never, context);
}

/**
 * Functions that use the service, by their deployed name. The API is not among them, because callers reach it by its
 * URL.
 */
export const serviceFunctions = {
  "nova-fire-trigger": { handler: lazyHandler(() => import("./fire-trigger.ts")), timeoutSeconds: 120 },
  "nova-receive-mail": { handler: lazyHandler(() => import("./receive-mail.ts")), timeoutSeconds: 300 },
  "nova-poll-mailbox": { handler: lazyHandler(() => import("./poll-mailbox.ts")), timeoutSeconds: 300 },
  "nova-erase": { handler: lazyHandler(() => import("./erase.ts")), timeoutSeconds: 900 },
  "nova-retain": { handler: lazyHandler(() => import("./retain.ts")), timeoutSeconds: 900 },
  "nova-notify": { handler: lazyHandler(() => import("./notify.ts")), timeoutSeconds: 120 },
  "nova-publish": { handler: lazyHandler(() => import("./publish.ts")), timeoutSeconds: 120 },
};
