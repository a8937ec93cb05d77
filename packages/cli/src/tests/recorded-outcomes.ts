import { InvalidInput } from "../errors.ts";
import { nodeOfPlace } from "../replay/recorded.ts";
import type { Test } from "./fixture.ts";
import { hasForm } from "./forms.ts";
import type { RecordedOutcome } from "./values-for-run.ts";

/** The recorded outcomes of nodes that do not run. Throws `InvalidInput` for a form, which has no value. */
export function recordedOutcomes(
  { name, fixture }: Pick<Test, "name" | "fixture">,
  live: ReadonlySet<string>,
): Record<string, RecordedOutcome> {
  const outcomes: Record<string, RecordedOutcome> = {};
  for (const [place, { error, ...outcome }] of Object.entries(fixture.outcomes)) {
    if (live.has(nodeOfPlace(place))) continue;
    if (hasForm(outcome.set) || (error && hasForm(error.message)))
      throw new InvalidInput(
        `the test "${name}" uses the recorded outcome of "${place}", which has a form - write a value instead`,
      );
    outcomes[place] = { ...outcome, ...(error && { error: { class: error.class, message: String(error.message) } }) };
  }
  return outcomes;
}
