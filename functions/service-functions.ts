import type { LambdaContext } from "./lambda.ts";

interface Module {
  handler(event: never, context: LambdaContext): Promise<unknown>;
}

/** A handler that its first invocation loads, so that a process that runs nodes does not load the service. */
export function lazyHandler(load: () => Promise<Module>) {
  return async (event: unknown, context: LambdaContext): Promise<unknown> =>
    (await load()).handler(event as never, context);
}

/** Functions that use the service, by their deployed name. The API is missing: callers use its address. */
export const serviceFunctions = {
  "nova-fire-trigger": { handler: lazyHandler(() => import("./fire-trigger.ts")), timeoutSeconds: 120 },
  "nova-receive-mail": { handler: lazyHandler(() => import("./receive-mail.ts")), timeoutSeconds: 300 },
  "nova-poll-mailbox": { handler: lazyHandler(() => import("./poll-mailbox.ts")), timeoutSeconds: 300 },
  "nova-erase": { handler: lazyHandler(() => import("./erase.ts")), timeoutSeconds: 900 },
  "nova-retain": { handler: lazyHandler(() => import("./retain.ts")), timeoutSeconds: 900 },
  "nova-notify": { handler: lazyHandler(() => import("./notify.ts")), timeoutSeconds: 120 },
  "nova-publish": { handler: lazyHandler(() => import("./publish.ts")), timeoutSeconds: 120 },
};
