import type { ScheduleTrigger, Trigger, TriggerType } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import type { ServicePorts } from "../ports/index.ts";

/** Sets up and removes one kind of trigger outside NOVA's table. Both calls can be repeated. */
export interface TriggerKind<T extends Trigger = Trigger> {
  put(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  remove(ports: ServicePorts, workflowId: string, trigger: T): Promise<void>;
  /** The trigger's name outside the table. Of two triggers of a workflow with one name, the later replaces the earlier. */
  externalName(trigger: T): string;
}

/** The expression in EventBridge Scheduler's syntax. */
export function expressionOf(when: ScheduleTrigger["when"]): string {
  if (when.kind === "cron") return `cron(${when.cron})`;
  return when.kind === "every" ? rateOf(when.everySeconds) : `at(${when.at})`;
}

const units = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
] as const;

/** The rate expression of a period. EventBridge Scheduler counts whole minutes, hours and days. */
export function rateOf(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? units[2];
  const count = Math.ceil(seconds / size);
  return `rate(${count} ${unit}${count === 1 ? "" : "s"})`;
}

/** A kind that needs nothing outside the table. */
const foundInTable: TriggerKind = {
  put: async () => undefined,
  remove: async () => undefined,
  externalName: ({ type, id }) => `${type}/${id}`,
};

/** Schedules that fire and schedules that poll a mailbox share their names. */
const scheduled: Omit<TriggerKind, "put"> = {
  remove: ({ schedules }, workflow, { id }) => schedules.remove({ workflow, trigger: id }),
  externalName: ({ id }) => `schedule/${id}`,
};

const kinds: { [Type in TriggerType]: TriggerKind<Extract<Trigger, { type: Type }>> } = {
  mail: foundInTable,
  webhook: foundInTable,
  schedule: {
    ...scheduled,
    async put({ schedules, clock }, workflow, { id, when, timezone }) {
      // A rate fires immediately by default, before the version that it runs is published.
      const firstMs = when.kind === "every" ? clock.now() + when.everySeconds * 1000 : undefined;
      const firstAt = firstMs === undefined ? undefined : new Date(firstMs).toISOString();
      await schedules.put(defined({ workflow, trigger: id, expression: expressionOf(when), timezone, firstAt }));
    },
  },
  /** A mailbox is polled on its own schedule. */
  imap: {
    ...scheduled,
    put: ({ schedules }, workflow, { id, everySeconds }) =>
      schedules.put({ workflow, trigger: id, expression: rateOf(everySeconds), polls: true }),
  },
  event: {
    put: ({ eventRules }, workflow, { id, bus, pattern }) => eventRules.put({ workflow, trigger: id, bus, pattern }),
    remove: ({ eventRules }, workflow, { id, bus }) => eventRules.remove({ workflow, trigger: id, bus }),
    /** A rule belongs to a bus, so rules on two buses can coexist. */
    externalName: ({ id, bus }) => `rule/${bus}/${id}`,
  },
};

export function triggerKindOf(type: TriggerType): TriggerKind {
  return kinds[type] as TriggerKind;
}
