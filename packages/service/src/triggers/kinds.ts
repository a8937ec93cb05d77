import type { Trigger, TriggerType } from "@nova/workflow";
import { foundInTable, type TriggerKind } from "./kind.ts";

type KindOf<Type extends TriggerType> = TriggerKind<Extract<Trigger, { type: Type }>>;

/** One line per kind of trigger. */
const kinds: { [Type in TriggerType]: KindOf<Type> } = {
  mail: foundInTable,
  imap: foundInTable,
  webhook: foundInTable,
  schedule: foundInTable,
  event: foundInTable,
};

export function triggerKindOf(type: TriggerType): TriggerKind {
  return kinds[type] as TriggerKind;
}
