import { createHash } from "node:crypto";
import { ulid } from "ulid";
import type { LinkId } from "../ports/chain.ts";
import { sha256 } from "../sha256.ts";

/** A file name has at most 255 bytes, but scopes have no limit. Longer scopes are replaced by their hash. */
const longestScope = 120;

/**
 * Returns the name of a link for claims and tombstones inside a sandbox. It is unique over all executions and safe as a
 * file name.
 */
export function linkName({ execution, scope, seq }: LinkId): string {
  const place = scope.length <= longestScope ? scope.replaceAll("/", "+") : `+${sha256(scope)}`;
  return `${execution}${place}.${seq}`;
}

/** Returns the id of a waiting node's task. All deliveries compute the same id, so they create one task. */
export function taskId(at: LinkId, since: string): string {
  return `task_${ulidOf(at, since)}`;
}

/**
 * Returns the id of the execution that a workflow node runs, the same for all deliveries. The salt distinguishes it
 * from ids of tasks.
 */
export function childId(at: LinkId, since: string): string {
  return `exec_${ulidOf(at, since, "child ")}`;
}

/** The time is that of the turn, which exactly one delivery wrote. The random part is a hash of the link. */
function ulidOf({ execution, scope, seq }: LinkId, since: string, salt = ""): string {
  return ulidFrom(Date.parse(since), `${salt}${execution}${scope}#${seq}`);
}

/** Returns a ULID that is the same for the same time and text. */
export function ulidFrom(ms: number, text: string): string {
  const bytes = createHash("sha256").update(text).digest();
  let next = 0;
  return ulid(ms, () => (bytes[next++] ?? 0) / 256);
}
