import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import { isInPlaceOf, putTriggers, removeTriggers } from "../triggers/sync.ts";
import { activeNow } from "./active-now.ts";

/**
 * Leaves triggers that somebody has made or taken away as the version has them that is active: gone, or in its form.
 * Who makes another one active meanwhile is followed. Throws as `putTriggers`.
 */
export async function settleTriggers(
  ports: ServicePorts,
  workflowId: string,
  touched: readonly Trigger[] = [],
): Promise<void> {
  for (let all = touched; all.length > 0; ) {
    const { version } = await activeNow(ports, workflowId);
    const own = version?.workflow.triggers ?? [];
    // What stays is put last: it may be what cannot be done.
    await removeTriggers(ports, workflowId, all, own);
    await putTriggers(ports, workflowId, touchedOf(own, all));
    const since = await activeNow(ports, workflowId);
    if (since.version?.version === version?.version) return;
    all = [...all, ...own];
  }
}

/** A mailbox that waits after a failure would be looked at anew if it was put for nothing. */
function touchedOf(own: readonly Trigger[], touched: readonly Trigger[]): Trigger[] {
  return own.filter((one) => touched.some((other) => isInPlaceOf(one, other)));
}
