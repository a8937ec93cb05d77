import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";

/** What one kind of trigger needs in the world outside of the table; both are repeated, and then do nothing new. */
export interface TriggerKind<T extends Trigger = Trigger> {
  put(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  remove(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  /** Names what stands for it there: of two triggers of a workflow with one place the later replaces the earlier. */
  place(trigger: T): string;
}

/** Of a kind that is found in the table, and needs nothing else. */
export const foundInTable: TriggerKind = {
  put: async () => undefined,
  remove: async () => undefined,
  place: ({ type, id }) => `${type}/${id}`,
};
