import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import type { Trigger } from "../../trigger.ts";

/** Whether a signed request says which delivery it is where its signature is over. */
export function checkDedupe(trigger: Trigger, path: string): Finding[] {
  if (trigger.type !== "webhook" || !trigger.signature || !trigger.dedupe?.startsWith("headers.")) return [];
  const problem = `dedupe names ${trigger.dedupe}, and no signature is over headers, so the body counts`;
  const wayOut = "name an id in the body, or leave dedupe out where equal bodies are deliveries of their own";
  return [finding("NOVA132", at(path, "dedupe"), `trigger "${trigger.id}": ${problem} - ${wayOut}`)];
}
