import type { IconName } from "../../../parts/icon.tsx";
import { texts } from "../../../texts.ts";
import type { NodeState } from "../model/visits.ts";

/** How a node's state looks, and what it is called. */
export const looks: Record<NodeState["state"], { tone: string; icon: IconName | undefined; says: string }> = {
  success: { tone: "ok", icon: "check", says: texts.status.completed },
  failed: { tone: "bad", icon: "cross", says: texts.status.failed },
  running: { tone: "run", icon: undefined, says: texts.status.running },
  waiting: { tone: "wait", icon: "pause", says: texts.status.waiting },
  next: { tone: "run", icon: "clock", says: texts.run.starting },
  idle: { tone: "idle", icon: undefined, says: texts.run.notRun },
};
