import { nodeAttempt } from "../attempt/retry.ts";
import type { Head } from "../chain/entry.ts";
import type { RecordedTimes } from "../ports/chain.ts";

/**
 * The time of a node in milliseconds, divided into classes; field names are public. The rest of the node's time belongs
 * to no class.
 */
export interface TraceTimes extends RecordedTimes {
  /** The time in which models answered. */
  model_ms: number;
  /** The time in which code ran, in all attempts. */
  code_ms: number;
}

type TimedHead = Pick<
  Head,
  "attempt" | "execution_time_ms" | "code" | "cache_hit" | "reused_from" | "edited" | "times"
>;
interface TimedStep {
  step_number: number;
  step_name: string;
  agent_name: string;
  model_used: string | null;
  execution_time_ms: number;
  run_time_ms?: number;
}

/**
 * Returns the times of an entry by class, from its hashed fields and its steps. With `isAsked`, a model works for the
 * node, and the steps record the times of the node. Otherwise the entry itself has the time of the node's code.
 */
export function timesOf(head: TimedHead, steps: readonly TimedStep[], isAsked: boolean): TraceTimes {
  const { waiting_ms = 0, sandbox_ms = 0 } = head.times ?? {};
  if (head.reused_from || head.edited) return { waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 };
  const isNodeAttempt = ({ step_name, agent_name }: TimedStep) =>
    step_name === nodeAttempt.step_name && agent_name === nodeAttempt.agent_name;
  const agents = steps.filter((step) => !isNodeAttempt(step));
  // The time of a step covers the model and the run of the model's code.
  const model_ms = sumOf(agents, ({ model_used, execution_time_ms, run_time_ms = 0 }) =>
    model_used === null ? 0 : Math.max(0, execution_time_ms - run_time_ms),
  );
  const ran = sumOf(agents, ({ agent_name, execution_time_ms, run_time_ms = 0 }) =>
    agent_name === "E2BExecutor" ? execution_time_ms : run_time_ms,
  );
  const pinned = head.cache_hit ? head.execution_time_ms - sumOf(agents, (step) => step.execution_time_ms) : 0;
  const own = isAsked ? Math.max(0, pinned) : ownCodeMs(head, agents);
  return { waiting_ms, sandbox_ms, model_ms, code_ms: ran + own };
}

/**
 * Returns the time of the code of the last attempt. If this attempt failed, a step has its time, and this function
 * returns 0.
 */
function ownCodeMs({ attempt, code, execution_time_ms }: TimedHead, attempts: readonly TimedStep[]): number {
  const isStep = attempts.some(({ step_number }) => step_number === attempt);
  return code === null || isStep ? 0 : execution_time_ms;
}

function sumOf<T>(items: readonly T[], msOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + msOf(item), 0);
}
