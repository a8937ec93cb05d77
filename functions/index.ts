import "./with-compiler.ts";
import { handler as closeExecution } from "./close-execution.ts";
import { handler as deliverEvent } from "./deliver-event.ts";
import { handler as executionStatus } from "./execution-status.ts";
import { handler as requestApproval } from "./request-approval.ts";
import { handler as runNode } from "./run-node.ts";
import { lazyHandler } from "./service-functions.ts";
import { handler as settleNode } from "./settle-node.ts";

export { createPorts, warmPorts } from "./app.ts";
export { provideTemplates, resetServicePorts, warmServicePorts } from "./service-app.ts";
export { serviceFunctions } from "./service-functions.ts";

/** Every function by its deployed name. */
export const functions = {
  "nova-run-node": { handler: runNode, timeoutSeconds: 900 },
  "nova-settle-node": { handler: settleNode, timeoutSeconds: 120 },
  "nova-close-execution": { handler: closeExecution, timeoutSeconds: 120 },
  "nova-request-approval": { handler: requestApproval, timeoutSeconds: 120 },
  "nova-deliver-event": { handler: deliverEvent, timeoutSeconds: 120 },
  "nova-execution-status": { handler: executionStatus, timeoutSeconds: 120 },
  "nova-sweep": { handler: lazyHandler(() => import("./sweep.ts")), timeoutSeconds: 300 },
};
