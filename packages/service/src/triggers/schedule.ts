import type { ScheduleTrigger } from "@nova/workflow";
import type { TriggerKind } from "./kind.ts";

export const scheduleKind: TriggerKind<ScheduleTrigger> = {
  async put({ schedules, clock }, workflow, { id, when, timezone }) {
    // A rate would fire before the version is there that it is to run.
    const firstAt = when.kind === "every" && new Date(clock.now() + when.everySeconds * 1000).toISOString();
    await schedules.put({
      ...{ workflow, trigger: id, expression: expressionOf(when) },
      ...(timezone !== undefined && { timezone }),
      ...(firstAt && { firstAt }),
    });
  },
  remove: ({ schedules }, workflow, { id }) => schedules.remove({ workflow, trigger: id }),
  place: schedulePlace,
};

/** Schedules that fire and those that look at a mailbox are named alike. */
export function schedulePlace({ id }: { id: string }): string {
  return `schedule/${id}`;
}

/** As EventBridge Scheduler writes it. */
export function expressionOf(when: ScheduleTrigger["when"]): string {
  if (when.kind === "cron") return `cron(${when.cron})`;
  return when.kind === "every" ? rateOf(when.everySeconds) : `at(${when.at})`;
}

const units = [
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
] as const;

/** EventBridge Scheduler counts whole minutes, hours and days. */
export function rateOf(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? units[2];
  const count = Math.ceil(seconds / size);
  return `rate(${count} ${unit}${count === 1 ? "" : "s"})`;
}
