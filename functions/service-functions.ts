import type { LambdaContext } from "./lambda.ts";

interface Module {
  handler(event: never, context: LambdaContext): Promise<unknown>;
}

/** A handler that is loaded when it is invoked: a process that runs nodes needs nothing of the service. */
export function whenInvoked(load: () => Promise<Module>) {
  return async (event: unknown, context: LambdaContext): Promise<unknown> =>
    (await load()).handler(event as never, context);
}

/** Every function that needs the service, by the name it is deployed under; the API has an address, not a name. */
export const serviceFunctions = {
  "nova-fire-trigger": { handler: whenInvoked(() => import("./fire-trigger.ts")), timeoutSeconds: 120 },
  "nova-receive-mail": { handler: whenInvoked(() => import("./receive-mail.ts")), timeoutSeconds: 300 },
  "nova-poll-mailbox": { handler: whenInvoked(() => import("./poll-mailbox.ts")), timeoutSeconds: 300 },
  "nova-erase": { handler: whenInvoked(() => import("./erase.ts")), timeoutSeconds: 900 },
  "nova-retain": { handler: whenInvoked(() => import("./retain.ts")), timeoutSeconds: 900 },
  "nova-notify": { handler: whenInvoked(() => import("./notify.ts")), timeoutSeconds: 120 },
  "nova-publish": { handler: whenInvoked(() => import("./publish.ts")), timeoutSeconds: 120 },
};
