import type { RunErrorClass } from "@nova/workflow";
import type { Ports } from "../ports/index.ts";
import type { Closed } from "./finish-close.ts";

/** Why a node fails that did not come to an outcome of its own. */
export interface Reason {
  class: RunErrorClass;
  message: string;
}

/**
 * What settling a turn needs besides the ports: a node that runs another workflow has no outcome before that has ended,
 * and to end an execution is to settle turns again. `settlingPorts` in execution/close.ts closes the circle.
 */
export interface SettlingPorts extends Ports {
  /** Stops an execution and closes its chain, if it is not over; answers how it ended. */
  endChild(child: { id: string; stateMachineArn: string }): Promise<Closed>;
}
