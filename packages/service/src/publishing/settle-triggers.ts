import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { Standing } from "../ports/workflow-states.ts";
import { isInPlaceOf, putTriggers, removeTriggers } from "../triggers/sync.ts";
import { activeNow } from "../workflows/active-now.ts";

/**
 * Leaves triggers that somebody has made or taken away, here or (`touched` in the state) elsewhere, as the version has
 * them that is active: gone, or in its form. Who makes another one active meanwhile is followed. Throws as `putTriggers`.
 */
export async function settleTriggers(
  ports: ServicePorts,
  workflowId: string,
  touched: readonly Trigger[] = [],
): Promise<void> {
  for (let all = touched; ; ) {
    const { state, version } = await activeNow(ports, workflowId);
    all = [...all, ...(await triggersOf(ports, workflowId, state.touched))];
    if (all.length === 0 && !state.touched) return;
    const own = version?.workflow.triggers ?? [];
    // What stays is put last: it may be what cannot be done.
    await removeTriggers(ports, workflowId, all, own);
    await putTriggers(ports, workflowId, touchedOf(own, all));
    if (await isStill(ports, workflowId, state)) return;
    all = [...all, ...own];
  }
}

async function triggersOf(ports: ServicePorts, workflowId: string, versions: readonly number[] = []) {
  const all = await Promise.all(versions.map((version) => ports.workflows.get(workflowId, version)));
  return all.flatMap((version) => version?.workflow.triggers ?? []);
}

/** Whether the state is what it was; then nothing of it is touched any more. */
async function isStill(ports: ServicePorts, workflowId: string, state: Standing): Promise<boolean> {
  if (state.touched) return ports.workflowStates.move(workflowId, state, { touched: [] });
  const { active, deleted, touched } = (await ports.workflowStates.get(workflowId)) ?? {};
  return active === state.active && deleted === state.deleted && touched === undefined;
}

/** A mailbox that waits after a failure would be looked at anew if it was put for nothing. */
function touchedOf(own: readonly Trigger[], touched: readonly Trigger[]): Trigger[] {
  return own.filter((one) => touched.some((other) => isInPlaceOf(one, other)));
}
