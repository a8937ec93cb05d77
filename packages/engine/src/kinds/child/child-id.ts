import { createHash } from "node:crypto";
import { ulid } from "ulid";
import type { LinkId } from "../../ports/chain.ts";

/**
 * Every delivery of a workflow node comes to the same execution: the time is that of the turn, which exactly one of them
 * took, and what is random in other ids is a hash of the link. The letter keeps it apart from the ids of tasks.
 */
export function childId({ execution, scope, seq }: LinkId, since: string): string {
  const bytes = createHash("sha256").update(`child ${execution}${scope}#${seq}`).digest();
  let next = 0;
  return `exec_${ulid(Date.parse(since), () => (bytes[next++] ?? 0) / 256)}`;
}
