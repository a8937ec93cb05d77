import { createHash, randomUUID } from "node:crypto";
import { type ExactValue, isRawNumber, parseExact } from "@nova/engine";
import type { WebhookTrigger } from "@nova/workflow";

export interface Dedupable {
  headers: Record<string, string>;
  /** JSON text. */
  json: string;
  bytes: Uint8Array;
}

/**
 * What repeated deliveries of a request have in common: what its trigger names, else (a sender that left it out, or
 * empty) the body. Where the trigger names nothing, no request is like another.
 */
export function dedupeOf({ dedupe }: Pick<WebhookTrigger, "dedupe">, { headers, json, bytes }: Dedupable): string {
  if (dedupe === undefined) return randomUUID();
  const [root, ...path] = dedupe.split(".");
  const value = root === "headers" ? headers[path.join(".")] : valueAt(parseExact(json), path);
  if (typeof value === "string" && value.trim() !== "") return value;
  // As it was written: a double would take 820982911946154508 and ...509 for one number.
  if (isRawNumber(value)) return value.rawJSON;
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function valueAt(value: ExactValue, path: readonly string[]): ExactValue | undefined {
  return path.reduce<ExactValue | undefined>((inner, name) => {
    if (inner === null || typeof inner !== "object" || isRawNumber(inner)) return undefined;
    return Object.hasOwn(inner, name) ? (inner as { [name: string]: ExactValue })[name] : undefined;
  }, value);
}
