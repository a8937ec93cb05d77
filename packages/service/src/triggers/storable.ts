import type { Trigger } from "@nova/workflow";
import { Refused } from "../errors.ts";

/**
 * UTF-8 bytes of a trigger as JSON. DynamoDB keeps items of up to 400 KB, and what is many numbers or empty lists takes
 * up to half as much again there.
 */
const longestBytes = 250_000;

/** Whether the table can have a definition's triggers. Throws `Refused`. */
export function demandStorable(triggers: readonly Trigger[] = []): void {
  for (const trigger of triggers) {
    const bytes = Buffer.byteLength(JSON.stringify(trigger));
    if (bytes <= longestBytes) continue;
    const size = `${bytes.toLocaleString("en")} bytes, and NOVA keeps up to ${longestBytes.toLocaleString("en")}`;
    throw new Refused(`trigger "${trigger.id}" has ${size} - move what is long in it into a node, or a file beside it`);
  }
}
