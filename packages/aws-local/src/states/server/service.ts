import type { Request } from "../../aws-http/request.ts";
import type { Clock } from "../../clock.ts";
import type { LiveExecutions } from "../live-executions.ts";
import type { Executions } from "../store/executions.ts";
import type { Machines } from "../store/machines.ts";

/** The state that operations work on. */
export interface Service {
  machines: Machines;
  executions: Executions;
  live: LiveExecutions;
  clock: Clock;
}

/** Operations by their names in Step Functions' API. */
export type Operations = Record<string, (service: Service, request: Request) => object | Promise<object>>;
