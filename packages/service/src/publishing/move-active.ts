import type { WorkflowVersion } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { MovedPointers, VersionPointers } from "../ports/workflow-states.ts";
import { putTriggers, removeTriggers, replacesTrigger } from "../triggers/sync.ts";
import { activeNow } from "../workflows/find.ts";

/**
 * Leaves triggers that somebody has made or taken away, here or (`touched` in the state) elsewhere, as the version has
 * them that is active: gone, or in its form. Who makes another one active meanwhile is followed. Throws as `putTriggers`.
 */
export async function settleTriggers(
  ports: ServicePorts,
  workflowId: string,
  made: readonly Trigger[] = [],
): Promise<void> {
  for (let all = made; ; ) {
    const { state, version } = await activeNow(ports, workflowId);
    all = [...all, ...(await triggersOf(ports, workflowId, state.touched))];
    if (all.length === 0 && !state.touched) return;
    const own = version?.workflow.triggers ?? [];
    // What stays is put last: it may be what cannot be done.
    await removeTriggers(ports, workflowId, all, own);
    // A mailbox that waits after a failure would be looked at anew if it was put for nothing.
    const touched = own.filter((one) => all.some((other) => replacesTrigger(one, other)));
    await putTriggers(ports, workflowId, touched);
    if (await isStill(ports, workflowId, state)) return;
    all = [...all, ...own];
  }
}

async function triggersOf(ports: ServicePorts, workflowId: string, versions: readonly number[] = []) {
  const all = await Promise.all(versions.map((version) => ports.workflows.get(workflowId, version)));
  return all.flatMap((version) => version?.workflow.triggers ?? []);
}

/** Whether the state is what it was; then nothing of it is touched any more. */
async function isStill(ports: ServicePorts, workflowId: string, state: VersionPointers): Promise<boolean> {
  if (state.touched) return ports.workflowStates.move(workflowId, state, { touched: [] });
  const { active, deleted, touched } = (await ports.workflowStates.get(workflowId)) ?? {};
  return active === state.active && deleted === state.deleted && touched === undefined;
}

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
  decide: (from: VersionPointers) => MovedPointers | undefined,
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

/**
 * Makes the triggers of a version real that is to be what new runs use, beside those that are; unless a later one is
 * that already. Throws as `putTriggers`: `settleTriggers` takes back what was made by then.
 */
export async function makeTriggersReal(ports: ServicePorts, { workflowId, version, workflow }: WorkflowVersion) {
  const { deleted = 0, active = 0 } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (deleted < version && active > version) return;
  await putTriggers(ports, workflowId, workflow.triggers);
}

/**
 * Makes a version that is ready what new runs use, its triggers with it, unless a later one is active. What was deleted
 * before and is published again is there again. Answers whether that changed anything: whoever repeats it does nothing
 * new. `staysBack`: what is there already and was not deleted is left as somebody activated it. Throws as `putTriggers`.
 */
export async function putForward(ports: ServicePorts, ready: WorkflowVersion, staysBack = false): Promise<boolean> {
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
