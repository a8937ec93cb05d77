import type { WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { Moved, Standing } from "../ports/workflow-states.ts";
import { putTriggers } from "../triggers/sync.ts";
import { activeNow } from "../workflows/active-now.ts";
import { settleTriggers } from "./settle-triggers.ts";

/**
 * Makes another version what new runs use, or none: its triggers first, and those of the one before go last. `decide`
 * says what the state becomes, undefined: nothing; who changed it meanwhile has it decided again. Whose triggers are
 * touched stands in the state from before the first of them until they are settled, so that of a process that dies here
 * the sweeper does the rest. Throws what `decide` throws, and as `putTriggers`.
 */
export async function moveActive(
  ports: ServicePorts,
  workflowId: string,
  next: WorkflowVersion | undefined,
  decide: (from: Standing) => Moved | undefined,
): Promise<void> {
  const after = next?.workflow.triggers ?? [];
  const { workflowStates } = ports;
  try {
    for (let isMoved = false; !isMoved; ) {
      const { state, before, version } = await activeNow(ports, workflowId);
      const changes = decide(state);
      if (!changes) break;
      const numbers = [version, next].flatMap((one) => (one ? [one.version] : []));
      const touched = [...new Set([...(state.touched ?? []), ...numbers])];
      if (!(await workflowStates.move(workflowId, state, { touched }))) continue;
      await putTriggers(ports, workflowId, after);
      const moved = { ...changes, touched, before: wayBack(before, version?.version, changes.active) };
      isMoved = await workflowStates.move(workflowId, { ...state, touched }, moved);
    }
  } finally {
    await settleTriggers(ports, workflowId, after);
  }
}

const longestWayBack = 100;

/** Going back to a version forgets those that came after it: the next rollback goes further back. */
function wayBack(before: readonly number[], from: number | undefined, to: number | undefined): number[] {
  if (to === undefined) return [];
  if (from === undefined || from === to) return [...before];
  const place = before.indexOf(to);
  return place < 0 ? [...before, from].slice(-longestWayBack) : before.slice(0, place);
}
