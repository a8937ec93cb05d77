import { createHash } from "node:crypto";
import { ulid } from "ulid";
import type { LinkId } from "../ports/chain.ts";
import { sha256 } from "../sha256.ts";

/** A file name has at most 255 bytes, and a scope no limit: a longer one stands for itself by its hash. */
const longestScope = 120;

/** The name that claims and tombstones of a link bear inside a sandbox; unique over all executions, safe as a file name. */
export function linkName({ execution, scope, seq }: LinkId): string {
  const place = scope.length <= longestScope ? scope.replaceAll("/", "+") : `+${sha256(scope)}`;
  return `${execution}${place}.${seq}`;
}

/** The task of a waiting node. Every delivery of it comes to the same id, so that they make one task. */
export function taskId(at: LinkId, since: string): string {
  return `task_${ulidOf(at, since)}`;
}

/** The execution of a workflow node: one for all deliveries. The letters keep it apart from the ids of tasks. */
export function childId(at: LinkId, since: string): string {
  return `exec_${ulidOf(at, since, "child ")}`;
}

/** The time is that of the turn, which exactly one delivery took; what is random in other ids is a hash of the link. */
function ulidOf({ execution, scope, seq }: LinkId, since: string, salt = ""): string {
  return ulidFrom(Date.parse(since), `${salt}${execution}${scope}#${seq}`);
}

/** A ULID that is the same for the same time and text. */
export function ulidFrom(ms: number, text: string): string {
  const bytes = createHash("sha256").update(text).digest();
  let next = 0;
  return ulid(ms, () => (bytes[next++] ?? 0) / 256);
}
