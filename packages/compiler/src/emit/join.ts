import type { States } from "../asl.ts";
import type { Way } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { joinedState, joinState } from "./names.ts";
import { settledChoice } from "./settle.ts";
import { catchTo, lambdaTask } from "./task.ts";

/**
 * The task that makes one entry of all branches, failed or not, then a Choice over what it found in the chain. It gets
 * the whole state, because `$.error` is there only if a branch failed.
 */
export function joinStates(fork: string, { failed, next }: { failed: string; next: Way }, frame: Frame): States {
  const join = lambdaTask(
    frame.functions.settleNode,
    { parameters: { join: fork, "at.$": "$" }, catchers: catchTo(frame.unsettled, frame) },
    joinedState(fork),
  );
  return { [joinState(fork)]: join, [joinedState(fork)]: settledChoice(failed, [], next ?? frame.done) };
}
