import type { Trigger } from "@nova/workflow";
import { Conflict } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import { triggerKey } from "./key.ts";
import { triggerKindOf } from "./kinds.ts";

/** Sets up triggers, contested ones first. Throws `Conflict` if another workflow has one, and `Refused`; some may be set up by then. */
export async function putTriggers(
  ports: ServicePorts,
  workflowId: string,
  triggers: readonly Trigger[] = [],
): Promise<void> {
  // The keys of contested triggers contain no workflow id, so two workflows can collide.
  const contested = triggers.filter((trigger) => triggerKey("a", trigger) === triggerKey("b", trigger));
  for (const trigger of contested) await put(ports, workflowId, trigger);
  for (const trigger of triggers) if (!contested.includes(trigger)) await put(ports, workflowId, trigger);
}

/** Removes triggers, except those that share a key or an external name with a trigger of `staying`. */
export async function removeTriggers(
  ports: ServicePorts,
  workflowId: string,
  triggers: readonly Trigger[] = [],
  staying: readonly Trigger[] = [],
): Promise<void> {
  const keys = new Set(staying.map((one) => triggerKey(workflowId, one)));
  const places = new Set(staying.map(externalName));
  for (const trigger of triggers) {
    const key = triggerKey(workflowId, trigger);
    if (!places.has(externalName(trigger))) await triggerKindOf(trigger.type).remove(ports, workflowId, trigger);
    if (!keys.has(key)) await ports.triggers.remove({ key, workflowId });
  }
}

/** Whether setting up `one` replaces `other`, in the table or outside. */
export function replacesTrigger(one: Trigger, other: Trigger): boolean {
  return triggerKey("", one) === triggerKey("", other) || externalName(one) === externalName(other);
}

function externalName(trigger: Trigger): string {
  return triggerKindOf(trigger.type).externalName(trigger);
}

async function put(ports: ServicePorts, workflowId: string, trigger: Trigger): Promise<void> {
  const key = triggerKey(workflowId, trigger);
  if (!(await ports.triggers.put({ format: 1, key, workflowId, trigger }))) {
    // Keys of every client can read this message as the reason of a failed version, so it names no other workflow.
    const what = trigger.type === "mail" ? "the address of a mail trigger" : "the id of a webhook";
    const wayOut = "validate it with a key for all clients, which says which, and choose another one";
    throw new Conflict(`another workflow has ${what} in this one - ${wayOut}`);
  }
  await triggerKindOf(trigger.type).put(ports, workflowId, trigger);
}
