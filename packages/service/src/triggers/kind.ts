import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";

/** What one kind of trigger needs in the world outside of the table; both are repeated, and then do nothing new. */
export interface TriggerKind<T extends Trigger = Trigger> {
  put(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  remove(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
}

/** Of a kind that is found in the table, and needs nothing else. */
export const foundInTable: TriggerKind<never> = { put: async () => undefined, remove: async () => undefined };
