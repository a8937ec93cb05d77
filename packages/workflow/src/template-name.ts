import { createHash } from "node:crypto";

/** Name of the sandbox template that has these pip lines; the same lines are the same template. */
export function templateName(requirements: readonly string[]): string {
  const lines = requirements.map((line) => line.trim()).sort();
  return `nova-${createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12)}`;
}
