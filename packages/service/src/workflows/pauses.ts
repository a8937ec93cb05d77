import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Paused, WorkflowState } from "../ports/workflow-states.ts";

/** No id of a trigger is one. */
const whole = "*";

/** Who paused a workflow, or one of its schedules; undefined: nobody. */
export function pauseOf(state: Pick<WorkflowState, "paused"> | undefined, schedule = whole): Paused | undefined {
  return state?.paused?.[schedule];
}

type PausePorts = Pick<ServicePorts, "workflowStates" | "clock">;

/** Pauses a workflow (without `schedule`) or a schedule of it, or ends that. False: it stood so already. */
export async function setPaused(
  { workflowStates, clock }: PausePorts,
  by: Principal,
  { workflow, schedule = whole, isPaused }: { workflow: string; schedule?: string; isPaused: boolean },
): Promise<boolean> {
  for (;;) {
    const { paused: from = {} } = (await workflowStates.get(workflow)) ?? {};
    if ((from[schedule] !== undefined) === isPaused) return false;
    const { [schedule]: _, ...others } = from;
    const mine = { at: new Date(clock.now()).toISOString(), by: by.id };
    if (await workflowStates.pause(workflow, from, isPaused ? { ...others, [schedule]: mine } : others)) return true;
  }
}

/** What is published later under the id of a deleted workflow is not paused. */
export async function endPauses({ workflowStates }: Pick<ServicePorts, "workflowStates">, id: string): Promise<void> {
  for (;;) {
    const { paused } = (await workflowStates.get(id)) ?? {};
    if (!paused || (await workflowStates.pause(id, paused, {}))) return;
  }
}
