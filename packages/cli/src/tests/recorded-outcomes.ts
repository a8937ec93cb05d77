import { InvalidInput } from "../errors.ts";
import { nodeAt } from "../replay/recorded.ts";
import type { Test } from "./fixture.ts";
import { hasForm } from "./forms.ts";
import type { RecordedOutcome } from "./values-for-run.ts";

/** What is taken from the record: outcomes of nodes that do not run. Throws `InvalidInput` for a form, which is no value. */
export function recordedOutcomes(
  { name, fixture }: Pick<Test, "name" | "fixture">,
  live: ReadonlySet<string>,
): Record<string, RecordedOutcome> {
  const outcomes: Record<string, RecordedOutcome> = {};
  for (const [place, { error, ...outcome }] of Object.entries(fixture.outcomes)) {
    if (live.has(nodeAt(place))) continue;
    if (hasForm(outcome.set) || (error && hasForm(error.message)))
      throw new InvalidInput(
        `the test "${name}" takes "${place}" from the record and has a form there - write the value that it came to`,
      );
    outcomes[place] = { ...outcome, ...(error && { error: { class: error.class, message: String(error.message) } }) };
  }
  return outcomes;
}
