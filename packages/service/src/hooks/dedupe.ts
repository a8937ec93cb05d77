import { createHash, randomUUID } from "node:crypto";
import { elementsOf, membersOf } from "@nova/engine";
import type { WebhookTrigger } from "@nova/workflow";
import { formIn } from "./hook-body.ts";

export interface Dedupable {
  headers: Record<string, string>;
  body: Uint8Array;
}

/**
 * What repeated deliveries of a request have in common: what its trigger names, else (a sender that left it out, or
 * empty) the body. Where the trigger names nothing, no request is like another. A signature is over the body and over no
 * other header: of a signed request only the body can say what it is, and it is read the same way whatever its
 * content-type says, or whoever has seen a request once could start as many runs as they like.
 */
export function dedupeOf(
  { dedupe, signature }: Pick<WebhookTrigger, "dedupe" | "signature">,
  { headers, body }: Dedupable,
): string {
  if (dedupe === undefined) return randomUUID();
  const [root, ...path] = dedupe.split(".");
  const header = signature === undefined ? headers[path.join(".")] : undefined;
  const id = root === "headers" ? header : idIn(body, path);
  if (id !== undefined && id.trim() !== "") return id;
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

/** A text of the body's JSON, or of its form, or a number as it was written: a double would change ...509 into ...508. */
function idIn(body: Uint8Array, path: readonly string[]): string | undefined {
  const text = textIn(body);
  if (text === undefined) return undefined;
  const whole = isJson(text) ? text.trim() : JSON.stringify(formIn(text));
  const json = path.reduce<string | undefined>((outer, name) => outer && memberIn(outer, name), whole);
  if (json?.startsWith('"')) return JSON.parse(json);
  return json !== undefined && /^[-\d]/.test(json) ? json : undefined;
}

function textIn(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function memberIn(json: string, name: string): string | undefined {
  if (json.startsWith("{")) return membersOf(json).findLast(({ key }) => key === name)?.json;
  return json.startsWith("[") && /^(0|[1-9]\d*)$/.test(name) ? elementsOf(json)[Number(name)] : undefined;
}
