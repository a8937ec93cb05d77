import { loopTargets, type Plan } from "../lower/plan.ts";
import { countEvents } from "./count-events.ts";
import { historyLimit } from "./state-events.ts";

const known = new WeakMap<Plan, boolean>();

/**
 * Whether the loops of the main line may need more events than one history has room for, so that they go on in further
 * executions. Maps have one item here: the more they have, the fewer are inline.
 */
export function continues(plan: Plan): boolean {
  const answer = known.get(plan) ?? (loopTargets(plan.main).length > 0 && countEvents(plan, () => 1) > historyLimit);
  known.set(plan, answer);
  return answer;
}
