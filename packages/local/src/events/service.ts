import type { Request } from "../aws-http/request.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { StandingRule } from "./rule.ts";
import type { Rules } from "./rules.ts";

/** What the operations work on. */
export interface EventService {
  rules: Rules;
  standing: readonly StandingRule[];
  deliveries: Deliveries;
  /** Names of the buses that there are. */
  buses: readonly string[];
  region: string;
  accountId: string;
  now(): number;
}

export type EventOperation = (service: EventService, request: Request) => object;
