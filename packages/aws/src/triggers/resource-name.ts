import { createHash } from "node:crypto";
import type { TriggerName } from "@nova/service";

/** EventBridge: names of rules and of schedules have at most 64 characters. */
const longest = 64;

/**
 * Name of what stands for a trigger, the same for rules and schedules: readable, and told from others by a hash, since
 * `a-b` of `c` would else meet `b` of `c-a`.
 */
export function resourceName({ workflow, trigger }: TriggerName): string {
  const hash = createHash("sha256").update(`${workflow}\n${trigger}`).digest("hex").slice(0, 12);
  const readable = `nova-${workflow}-${trigger}`.replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${readable.slice(0, longest - 1 - hash.length)}-${hash}`;
}
