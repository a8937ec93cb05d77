import { type Finding, finding } from "../../findings/finding.ts";
import type { Trigger } from "../../trigger.ts";

/**
 * UTF-8 bytes of a trigger as JSON. DynamoDB keeps items of up to 400 KB, and what is many numbers or empty lists takes
 * up to half as much again there.
 */
const longestBytes = 250_000;

/** Whether the table can have it. */
export function checkTriggerSize(trigger: Trigger, path: string): Finding[] {
  const bytes = Buffer.byteLength(JSON.stringify(trigger));
  if (bytes <= longestBytes) return [];
  const size = `${bytes.toLocaleString("en")} bytes, and NOVA keeps up to ${longestBytes.toLocaleString("en")}`;
  const message = `trigger "${trigger.id}" has ${size} - move what is long in it into a node, or a file beside it`;
  return [finding("NOVA130", path, message)];
}
