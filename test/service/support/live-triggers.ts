import type { PublishingWorld } from "./publishing-world.ts";

/** The triggers that are set up, in the table and outside, and those that the active version wants. */
export function live(world: PublishingWorld, workflowId = "a") {
  const { active = 0, deleted = 0 } = world.workflowStates.kept.get(workflowId) ?? {};
  const version = active > deleted ? world.versions.find((one) => one.version === active) : undefined;
  const triggers = version?.workflow.triggers ?? [];
  const there = [...world.triggers.kept.values()].map(({ trigger }) => JSON.stringify(trigger)).sort();
  const places = triggers.flatMap((one) => {
    if (one.type === "event") return `${workflowId}/${one.id}@${one.bus}`;
    return ["schedule", "imap"].includes(one.type) ? `${workflowId}/${one.id}` : [];
  });
  return {
    there,
    wanted: triggers.map((one) => JSON.stringify(one)).sort(),
    outside: [...world.schedules.kept.keys(), ...world.eventRules.kept.keys()].sort(),
    places: places.sort(),
  };
}
