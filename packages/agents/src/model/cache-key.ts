import { createHash } from "node:crypto";

/** Requests with one key meet the same cache: those whose prompts begin alike, and no more (64 characters, OpenAI). */
export function cacheKey({ instructions }: { instructions: string }): string {
  return `nova-${createHash("sha256").update(instructions).digest("hex").slice(0, 32)}`;
}
