import type { Request } from "../../aws-http/request.ts";
import type { Clock } from "../../clock.ts";
import type { LiveExecutions } from "../live-executions.ts";
import type { Executions } from "../store/executions.ts";
import type { Machines } from "../store/machines.ts";

/** What the operations work on. */
export interface Service {
  machines: Machines;
  executions: Executions;
  live: LiveExecutions;
  clock: Clock;
}

/** By the names that the API of Step Functions has for them. */
export type Operations = Record<string, (service: Service, request: Request) => object | Promise<object>>;
