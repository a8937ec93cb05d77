import type { Trigger } from "@nova/workflow";
import { Conflict } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import { triggerKey } from "./key.ts";
import { triggerKindOf } from "./kinds.ts";

/**
 * Makes the triggers of the version that is active now real, and those of the one before go. Whoever repeats it repairs
 * what was left half done. Throws `Conflict` where another workflow has an address or the id of a hook.
 */
export async function syncTriggers(
  ports: ServicePorts,
  workflowId: string,
  before: readonly Trigger[] = [],
  after: readonly Trigger[] = [],
): Promise<void> {
  for (const trigger of before) {
    if (!after.some((one) => isSamePlace(one, trigger))) await remove(ports, workflowId, trigger);
  }
  for (const trigger of after) await put(ports, workflowId, trigger);
}

/** Of two of one place the later replaces the earlier. */
function isSamePlace(one: Trigger, other: Trigger): boolean {
  const isSameKind = one.type === other.type && one.id === other.id && triggerKey("", one) === triggerKey("", other);
  return isSameKind && busOf(one) === busOf(other);
}

/** A rule belongs to its bus: one on another bus would stay. */
function busOf(trigger: Trigger): string | undefined {
  return trigger.type === "event" ? trigger.bus : undefined;
}

async function remove(ports: ServicePorts, workflowId: string, trigger: Trigger): Promise<void> {
  await triggerKindOf(trigger.type).remove(ports, workflowId, trigger);
  await ports.triggers.remove({ key: triggerKey(workflowId, trigger), workflowId });
}

async function put(ports: ServicePorts, workflowId: string, trigger: Trigger): Promise<void> {
  const key = triggerKey(workflowId, trigger);
  if (!(await ports.triggers.put({ format: 1, key, workflowId, trigger }))) {
    const [kind, name] = key.split("/");
    throw new Conflict(
      `another workflow has the ${kind} trigger "${name}" - choose another one, or delete that workflow`,
    );
  }
  await triggerKindOf(trigger.type).put(ports, workflowId, trigger);
}
