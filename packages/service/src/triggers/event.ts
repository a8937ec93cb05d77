import type { EventTrigger } from "@nova/workflow";
import type { TriggerKind } from "./kind.ts";

export const eventKind: TriggerKind<EventTrigger> = {
  put: ({ eventRules }, workflow, { id, bus, pattern }) => eventRules.put({ workflow, trigger: id, bus, pattern }),
  remove: ({ eventRules }, workflow, { id, bus }) => eventRules.remove({ workflow, trigger: id, bus }),
  /** A rule belongs to its bus: that of a version which listens to the other one stays beside it. */
  place: ({ id, bus }) => `rule/${bus}/${id}`,
};
