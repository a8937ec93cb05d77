import { NovaError } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";

/** The key of a live trigger: what incoming mail or requests name (address, hook id), else the workflow and the trigger id. */
export function triggerKey(workflowId: string, trigger: Pick<Trigger, "id" | "type"> & { address?: string }): string {
  if (trigger.address !== undefined) return mailKey(trigger.address);
  if (trigger.type === "webhook") return hookKey(trigger.id);
  return ownKey(workflowId, trigger.id);
}

export function mailKey(address: string): string {
  return `mail/${address}`;
}

export function hookKey(id: string): string {
  return `webhook/${id}`;
}

/** The key of a trigger that only NOVA's own schedules and rules name. Neither id contains a slash. */
export function ownKey(workflowId: string, trigger: string): string {
  return `of/${workflowId}/${trigger}`;
}

/** Returns the current secret values of one credential, in the order of its fields. Throws the errors of `forNode`. */
export async function readSecrets(
  { credentials }: Pick<ServicePorts, "credentials">,
  client: string,
  workflow: string | null,
  name: string,
): Promise<string[]> {
  const { members, secrets } = await credentials.forNode(client, workflow, [name]);
  const known = new Set(secrets);
  return members
    .map(({ json }) => JSON.parse(json) as unknown)
    .filter((value): value is string => typeof value === "string" && known.has(value));
}

/** Returns a handler for `catch` that answers an unusable credential (its owner must fix it) and throws all other errors again. */
export function catchUnusable<T>(answer: (reason: NovaError) => T) {
  return (error: unknown): T => {
    if (error instanceof NovaError && error.name === "NodeFailed") return answer(error);
    throw error;
  };
}
