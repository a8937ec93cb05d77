import type { Trigger } from "@nova/workflow";

/** A trigger of the active version of a workflow: what comes in finds it here. */
export interface LiveTrigger {
  format: 1;
  /** See `triggerKey`. */
  key: string;
  workflowId: string;
  trigger: Trigger;
}

export interface TriggerStore {
  /** Replaces that of the same workflow; false where the key is another workflow's. */
  put(live: LiveTrigger): Promise<boolean>;
  get(key: string): Promise<LiveTrigger | undefined>;
  /** Nothing happens where the key is another workflow's, or nobody's. */
  remove(live: Pick<LiveTrigger, "key" | "workflowId">): Promise<void>;
}
