import type { WorkflowVersion } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { MovedPointers, VersionPointers } from "../ports/workflow-states.ts";
import { putTriggers, removeTriggers, replacesTrigger } from "../triggers/sync.ts";
import { findActive } from "../workflows/find.ts";

/**
 * Brings the triggers in `made` and the triggers of `touched` versions into the state that the active version defines.
 * It sets up the triggers that the active version has, and removes the others. If another version becomes active in the
 * meantime, the function starts again. Throws as `putTriggers` does.
 */
export async function settleTriggers(ports: ServicePorts, workflowId: string, made: readonly Trigger[] = []) {
  for (let all = made; ; ) {
    const { state, version } = await findActive(ports, workflowId);
    all = [...all, ...(await triggersOf(ports, workflowId, state.touched))];
    if (all.length === 0 && !state.touched) return;
    const own = version?.workflow.triggers ?? [];
    // Removes triggers first, since setting up the others may fail.
    await removeTriggers(ports, workflowId, all, own);
    // Sets up only the triggers of the active version that are in `all`. To set up a mailbox trigger again would end
    // the pause of its mailbox.
    const touched = own.filter((one) => all.some((other) => replacesTrigger(one, other)));
    await putTriggers(ports, workflowId, touched);
    if (await clearTouched(ports, workflowId, state)) return;
    all = [...all, ...own];
  }
}

async function triggersOf(ports: ServicePorts, workflowId: string, versions: readonly number[] = []) {
  const all = await Promise.all(versions.map((version) => ports.workflows.get(workflowId, version)));
  return all.flatMap((version) => version?.workflow.triggers ?? []);
}

/** Clears `touched` if the state has not changed since it was read. Returns false if it has changed. */
async function clearTouched(ports: ServicePorts, workflowId: string, state: VersionPointers): Promise<boolean> {
  if (state.touched) return ports.workflowStates.move(workflowId, state, { touched: [] });
  const { active, deleted, touched } = (await ports.workflowStates.get(workflowId)) ?? {};
  return active === state.active && deleted === state.deleted && touched === undefined;
}

/**
 * Activates `next`; if `next` is undefined, no version stays active. The function first sets up the triggers of `next`,
 * and at the end removes the triggers of the previous version. `decide` returns the new state, or undefined for no
 * change. If another process changes the state in the meantime, the function calls `decide` again. From before the
 * first trigger is set up until all triggers are settled, `touched` lists `next` and the previous version. So the
 * sweeper finishes the work of a crashed process. Throws the errors of `decide` and of `putTriggers`.
 */
export async function moveActive(
  ports: ServicePorts,
  workflowId: string,
  next: WorkflowVersion | undefined,
  decide: (from: VersionPointers) => MovedPointers | undefined,
): Promise<void> {
  const after = next?.workflow.triggers ?? [];
  const { workflowStates } = ports;
  try {
    for (let isMoved = false; !isMoved; ) {
      const { state, before, version } = await findActive(ports, workflowId);
      const changes = decide(state);
      if (!changes) break;
      const numbers = [version, next].flatMap((one) => (one ? [one.version] : []));
      const touched = [...new Set([...(state.touched ?? []), ...numbers])];
      if (!(await workflowStates.move(workflowId, state, { touched }))) continue;
      await putTriggers(ports, workflowId, after);
      const moved = { ...changes, touched, before: previousVersions(before, version?.version, changes.active) };
      isMoved = await workflowStates.move(workflowId, { ...state, touched }, moved);
    }
  } finally {
    await settleTriggers(ports, workflowId, after);
  }
}

const longestWayBack = 100;

/**
 * Returns the new list of previous versions. If `to` is one of them, the new list leaves out `to` and the versions
 * after it, so the next rollback activates an earlier version.
 */
function previousVersions(before: readonly number[], from: number | undefined, to: number | undefined): number[] {
  if (to === undefined) return [];
  if (from === undefined || from === to) return [...before];
  const place = before.indexOf(to);
  return place < 0 ? [...before, from].slice(-longestWayBack) : before.slice(0, place);
}

/**
 * Sets up the triggers of a version that will be activated. The triggers of the active version stay. Does nothing if a
 * later version is active. Throws as `putTriggers` does. After such an error, `settleTriggers` removes the triggers
 * that were set up before the error.
 */
export async function setUpTriggers(ports: ServicePorts, { workflowId, version, workflow }: WorkflowVersion) {
  const { deleted = 0, active = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (deleted < version && active > version) return;
  await putTriggers(ports, workflowId, workflow.triggers);
}

/**
 * Activates a ready version unless a later version is active. A deleted version that is published again becomes
 * available again. Returns whether anything changed; a repeated call changes nothing. With `staysBack`, a version that
 * was not deleted is activated only while no version is active, since a user may have rolled back from it. Throws as
 * `putTriggers` does.
 */
export async function activateUnlessOlder(ports: ServicePorts, ready: WorkflowVersion, staysBack = false) {
  const { workflowId, version } = ready;
  let isNew = false;
  await moveActive(ports, workflowId, ready, ({ active = 0, deleted = 0 }) => {
    const isDeleted = deleted >= version;
    const isBehind = active > version || (staysBack && active > 0);
    isNew = isDeleted || (active < version && !isBehind);
    if (isDeleted) return { active: version, deleted: version - 1 };
    return isBehind ? undefined : { active: version };
  });
  return isNew;
}
