import { type Finding, finding } from "../findings/finding.ts";
import type { Workflow } from "../workflow.ts";

/** A warning for each schedule whose one time is over. No part of parsing: what was right must not get wrong later. */
export function pastTimes({ triggers = [] }: Pick<Workflow, "triggers">, nowMs: number): Finding[] {
  return triggers.flatMap((trigger, index) => {
    if (trigger.type !== "schedule" || trigger.when.kind !== "at") return [];
    const { at } = trigger.when;
    const zone = trigger.timezone ?? "UTC";
    if (at > localTime(nowMs, zone)) return [];
    const message = `trigger "${trigger.id}" is due at ${at} (${zone}), which is over - write a time to come, or remove the trigger`;
    return [finding("NOVA129", `$.triggers[${index}].at`, message)];
  });
}

/** What clocks show there, `2026-01-31T09:00:00`. Swedes write times so but for the T. */
function localTime(nowMs: number, timeZone: string): string {
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return clock.format(nowMs).replace(" ", "T");
}
