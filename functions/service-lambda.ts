import type { ServicePorts } from "@nova/service";
import { stackAround } from "./lambda.ts";
import { warmServicePorts } from "./service-app.ts";

/**
 * Creates a handler that needs the ports of the service. It has its own file, so that functions of the engine do not
 * load the compiler.
 */
export function serviceLambda<Event, Answer>(
  handle: (ports: ServicePorts, event: Event, signal: AbortSignal, leftMs: () => number) => Promise<Answer>,
) {
  return stackAround(warmServicePorts, handle);
}
