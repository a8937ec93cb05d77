import type { EventTrigger } from "@nova/workflow";
import type { TriggerKind } from "./kind.ts";

export const eventKind: TriggerKind<EventTrigger> = {
  put: ({ eventRules }, workflow, { id, bus, pattern }) => eventRules.put({ workflow, trigger: id, bus, pattern }),
  remove: ({ eventRules }, workflow, { id, bus }) => eventRules.remove({ workflow, trigger: id, bus }),
};
