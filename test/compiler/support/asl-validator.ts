import { createRequire } from "node:module";
import type { StateMachine } from "@nova/compiler";

// The package has no types.
const validate: (definition: unknown) => Promise<{ errorsText(separator: string): string }> = createRequire(
  import.meta.url,
)("asl-validator");

/** Returns the errors of asl-validator for a definition; an empty text if it accepts the definition. */
export async function aslErrors(machine: StateMachine): Promise<string> {
  // The validator changes its input.
  const { errorsText } = await validate(JSON.parse(JSON.stringify(machine)));
  return errorsText("\n");
}
