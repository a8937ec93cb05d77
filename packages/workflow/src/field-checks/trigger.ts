import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import type { WrittenPlace } from "../findings/written.ts";
import type { Trigger } from "../trigger.ts";

/** Warns if a signed request identifies its delivery by a header, because no signature covers headers. */
export function checkDedupe(trigger: Trigger, path: string): Finding[] {
  if (trigger.type !== "webhook" || !trigger.signature || !trigger.dedupe?.startsWith("headers.")) return [];
  const problem = `dedupe names ${trigger.dedupe}, and no signature is over headers, so the body counts`;
  const wayOut = "name an id in the body, or leave dedupe out where equal bodies are deliveries of their own";
  return [finding("NOVA132", at(path, "dedupe"), `trigger "${trigger.id}": ${problem} - ${wayOut}`)];
}

/**
 * Reports numbers that no node could read: JSON allows any size, but Python and JavaScript turn 1e400 into infinity.
 */
export function* checkNumbers(value: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    const message = `${name} has a number beyond 1.8e308, which no node could read - write it as a text`;
    yield finding("NOVA104", path, message);
  } else if (typeof value === "object" && value !== null) {
    const steps = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [step, inside] of steps) yield* checkNumbers(inside, { name, path: at(path, step) });
  }
}

/**
 * UTF-8 bytes of a trigger as JSON. DynamoDB items are limited to 400 KB, and many numbers or empty lists need up to
 * half as much again there.
 */
const longestBytes = 250_000;

/** Reports a trigger that is too large for the table. */
export function checkTriggerSize(trigger: Trigger, path: string): Finding[] {
  const bytes = Buffer.byteLength(JSON.stringify(trigger));
  if (bytes <= longestBytes) return [];
  const size = `${bytes.toLocaleString("en")} bytes, and NOVA keeps up to ${longestBytes.toLocaleString("en")}`;
  const message = `trigger "${trigger.id}" has ${size} - move long values into a node, or a file beside it`;
  return [finding("NOVA130", path, message)];
}
