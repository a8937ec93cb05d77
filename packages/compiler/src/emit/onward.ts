import type { GoesOn, Way } from "../lower/plan.ts";
import { forkState } from "./names.ts";

/** The state behind a node's own: its fork, or the node it leads to. */
export function onward({ fork, next }: GoesOn): Way {
  return fork ? forkState(fork.node) : next;
}
