import type { LambdaContext } from "./lambda.ts";

interface Module {
  handler(event: never, context: LambdaContext): Promise<unknown>;
}

/** A handler that is loaded when it is invoked: a process that runs nodes needs nothing of the service. */
export function whenInvoked(load: () => Promise<Module>) {
  return async (event: unknown, context: LambdaContext): Promise<unknown> =>
    (await load()).handler(event as never, context);
}
