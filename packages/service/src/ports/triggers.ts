import type { Trigger } from "@nova/workflow";

/** A mailbox that could not be read, and until when nobody tries it. */
export interface Pause {
  /** In a row. */
  failures: number;
  /** ISO 8601. */
  until: string;
}

/** A trigger of the active version of a workflow: what comes in finds it here. */
export interface LiveTrigger {
  format: 1;
  /** See `triggerKey`. */
  key: string;
  workflowId: string;
  trigger: Trigger;
  /** Of a mailbox that could not be read. */
  pause?: Pause;
}

export interface TriggerStore {
  /** Replaces that of the same workflow; false where the key is another workflow's. */
  put(live: LiveTrigger): Promise<boolean>;
  get(key: string): Promise<LiveTrigger | undefined>;
  /** Nothing happens where it is gone. Undefined ends a pause. */
  pause(live: Pick<LiveTrigger, "key" | "workflowId">, pause: Pause | undefined): Promise<void>;
  /** Nothing happens where the key is another workflow's, or nobody's. */
  remove(live: Pick<LiveTrigger, "key" | "workflowId">): Promise<void>;
}
