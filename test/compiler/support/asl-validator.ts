import { createRequire } from "node:module";
import type { StateMachine } from "@nova/compiler";

// The package ships no types.
const validate: (definition: unknown) => Promise<{ errorsText(separator: string): string }> = createRequire(
  import.meta.url,
)("asl-validator");

/** What asl-validator has against a definition; an empty string is a definition that it accepts. */
export async function aslErrors(machine: StateMachine): Promise<string> {
  // It writes into what it validates.
  const { errorsText } = await validate(JSON.parse(JSON.stringify(machine)));
  return errorsText("\n");
}
