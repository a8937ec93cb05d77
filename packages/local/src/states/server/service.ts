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
  region: string;
  accountId: string;
}

export type Operation = (service: Service, request: Request) => object | Promise<object>;

/** AWS JSON carries times as seconds. */
export function seconds(ms: number): number {
  return ms / 1000;
}
