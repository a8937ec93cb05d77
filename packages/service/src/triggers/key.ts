import { NovaError } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";

/** Under which a live trigger is found: by what comes in with it, or by workflow and id where NOVA says which one it is. */
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

/** Of triggers that only NOVA's own schedules and rules name. No id of a workflow or a trigger has a slash. */
export function ownKey(workflowId: string, trigger: string): string {
  return `of/${workflowId}/${trigger}`;
}

/** The secret values of one credential as they are now, in the order of its fields. Arguments and errors are those of `forNode`. */
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

/** For `catch`, where a credential cannot be had: its owner has to see to it. Whatever else failed is thrown on. */
export function catchUnusable<T>(answer: (reason: NovaError) => T) {
  return (error: unknown): T => {
    if (error instanceof NovaError && error.name === "NodeFailed") return answer(error);
    throw error;
  };
}
