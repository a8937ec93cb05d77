import type { States } from "../asl.ts";
import type { PlannedTask } from "../lower/plan.ts";
import { pauseState, runningState } from "./names.ts";

/**
 * What is between the task of a node and `next`. Code that outlives a Lambda is not waited for: its task begins it or
 * looks after it, and as long as it runs answers after what pause it wants to look again.
 */
export function runningStates({ id, looks }: PlannedTask, next: string): States {
  if (looks === undefined) return {};
  const [running, pause] = [runningState(id), pauseState(id)];
  return {
    [running]: { Type: "Choice", Choices: [{ Variable: "$.running", IsPresent: true, Next: pause }], Default: next },
    [pause]: { Type: "Wait", SecondsPath: "$.pause", Next: id },
  };
}

/** The state behind the task of a node. */
export function behindTask<Next extends string | null>({ id, looks }: PlannedTask, next: Next): Next | string {
  return looks === undefined ? next : runningState(id);
}
