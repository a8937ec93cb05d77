import type { EventTrigger } from "@nova/workflow";
import type { TriggerKind } from "./kind.ts";

export const eventKind: TriggerKind<EventTrigger> = {
  async put({ eventRules }, workflow, { id, bus, pattern }) {
    await eventRules.put({ workflow, trigger: id, bus, pattern });
    // The version before may have listened to the other one.
    await eventRules.remove({ workflow, trigger: id, bus: bus === "nova" ? "default" : "nova" });
  },
  remove: ({ eventRules }, workflow, { id, bus }) => eventRules.remove({ workflow, trigger: id, bus }),
  /** A rule belongs to its bus: one on another bus would stay. */
  place: ({ id, bus }) => `rule/${bus}/${id}`,
};
