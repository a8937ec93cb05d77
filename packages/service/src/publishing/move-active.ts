import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { WorkflowState } from "../ports/workflow-states.ts";
import { syncTriggers } from "../triggers/sync.ts";
import { activeNow } from "./active-now.ts";
import { settleTriggers } from "./settle-triggers.ts";

type Standing = Pick<WorkflowState, "active" | "deleted">;

/**
 * Makes another version what new runs use, or none, and its triggers real before. `decide` says what the state becomes,
 * undefined: nothing; who changed it meanwhile has it decided again. However it ends, the triggers of what is active
 * are real, and no others that were touched. Throws what `decide` throws, and as `syncTriggers`.
 */
export async function moveActive(
  ports: ServicePorts,
  workflowId: string,
  next: WorkflowVersion | undefined,
  decide: (from: Standing) => Standing | undefined,
): Promise<void> {
  const after = next?.workflow.triggers ?? [];
  const touched = [...after];
  try {
    for (let isMoved = false; !isMoved; ) {
      const { state, version } = await activeNow(ports, workflowId);
      const changes = decide(state);
      if (!changes) break;
      const before = version?.workflow.triggers ?? [];
      touched.push(...before);
      await syncTriggers(ports, workflowId, before, after);
      isMoved = await ports.workflowStates.move(workflowId, state, changes);
    }
  } finally {
    await settleTriggers(ports, workflowId, touched);
  }
}
