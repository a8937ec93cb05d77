import type { Plan } from "../lower/plan.ts";
import { countEvents } from "./count-events.ts";
import { historyLimit } from "./state-events.ts";

/** To count how so many loops multiply would take seconds; they are taken to need more. */
const mostCounted = 100;

const known = new WeakMap<Plan, boolean>();

/**
 * Whether the loops of the main line may need more events than one history has room for, so that they go on in further
 * executions. Maps have one item here: the more they have, the fewer are inline.
 */
export function continues(plan: Plan): boolean {
  const answer = known.get(plan) ?? needsMore(plan);
  known.set(plan, answer);
  return answer;
}

function needsMore(plan: Plan): boolean {
  const ways = plan.main.nodes.flatMap((node) => ("branches" in node ? node.branches : []));
  const loops = ways.filter(({ max }) => max !== undefined).length;
  return loops > 0 && (loops > mostCounted || countEvents(plan, () => 1) > historyLimit);
}
