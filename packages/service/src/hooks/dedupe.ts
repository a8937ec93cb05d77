import { createHash, randomUUID } from "node:crypto";
import type { WebhookTrigger } from "@nova/workflow";

export interface Dedupable {
  headers: Record<string, string>;
  /** JSON text. */
  json: string;
  bytes: Uint8Array;
}

/**
 * What repeated deliveries of a request have in common: what its trigger names, else (a sender that left it out) the
 * body. Where the trigger names nothing, no request is like another.
 */
export function dedupeOf({ dedupe }: Pick<WebhookTrigger, "dedupe">, { headers, json, bytes }: Dedupable): string {
  if (dedupe === undefined) return randomUUID();
  const [root, ...path] = dedupe.split(".");
  const value = root === "headers" ? headers[path.join(".")] : valueAt(JSON.parse(json), path);
  if (typeof value === "string" || typeof value === "number") return String(value);
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    const isThere = inner !== null && typeof inner === "object" && Object.hasOwn(inner, name);
    return isThere ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);
}
