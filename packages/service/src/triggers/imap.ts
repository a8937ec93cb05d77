import type { ImapTrigger } from "@nova/workflow";
import type { TriggerKind } from "./kind.ts";
import { rateOf, schedulePlace } from "./schedule.ts";

/** A mailbox is looked at on a schedule of its own. */
export const imapKind: TriggerKind<ImapTrigger> = {
  put: ({ schedules }, workflow, { id, everySeconds }) =>
    schedules.put({ workflow, trigger: id, expression: rateOf(everySeconds), polls: true }),
  remove: ({ schedules }, workflow, { id }) => schedules.remove({ workflow, trigger: id }),
  place: schedulePlace,
};
