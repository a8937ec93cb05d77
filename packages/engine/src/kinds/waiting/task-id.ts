import { createHash } from "node:crypto";
import { ulid } from "ulid";
import type { LinkId } from "../../ports/chain.ts";

/**
 * Every delivery of a request comes to the same id, so that they make one task: the time is that of the turn, which
 * exactly one of them took, and what is random in other ids is a hash of the link.
 */
export function taskId({ execution, scope, seq }: LinkId, since: string): string {
  const bytes = createHash("sha256").update(`${execution}${scope}#${seq}`).digest();
  let next = 0;
  return `task_${ulid(Date.parse(since), () => (bytes[next++] ?? 0) / 256)}`;
}
