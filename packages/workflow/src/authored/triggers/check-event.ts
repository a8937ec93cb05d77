import { checkPattern } from "../../event-pattern/check-pattern.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { isObject } from "../../json/loose.ts";
import type { JsonObject } from "../../json/value.ts";

export function* checkEventPattern(
  { pattern }: Record<string, unknown>,
  { name, path }: { name: string; path: string },
): Iterable<Finding> {
  if (!isObject(pattern)) return;
  for (const { segments, message } of checkPattern(pattern as JsonObject)) {
    yield finding("NOVA125", at(path, "pattern", ...segments), `${name}: the event pattern ${message}`);
  }
}
