import type { Trigger, TriggerType } from "@nova/workflow";
import { eventKind } from "./event.ts";
import { imapKind } from "./imap.ts";
import { foundInTable, type TriggerKind } from "./kind.ts";
import { scheduleKind } from "./schedule.ts";

type KindOf<Type extends TriggerType> = TriggerKind<Extract<Trigger, { type: Type }>>;

/** One line per kind of trigger. */
const kinds: { [Type in TriggerType]: KindOf<Type> } = {
  mail: foundInTable,
  imap: imapKind,
  webhook: foundInTable,
  schedule: scheduleKind,
  event: eventKind,
};

export function triggerKindOf(type: TriggerType): TriggerKind {
  return kinds[type] as TriggerKind;
}
