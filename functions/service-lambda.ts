import type { ServicePorts } from "@nova/service";
import { stackAround } from "./lambda.ts";
import { warmServicePorts } from "./service-app.ts";

/** As `lambda`, for a handler of the service: apart, so that no function of the engine loads the compiler. */
export function serviceLambda<Event, Answer>(
  handle: (ports: ServicePorts, event: Event, signal: AbortSignal, leftMs: () => number) => Promise<Answer>,
) {
  return stackAround(warmServicePorts, handle);
}
