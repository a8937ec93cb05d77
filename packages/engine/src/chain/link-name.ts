import { sha256 } from "../json/hash.ts";
import type { LinkId } from "../ports/chain.ts";

/** A file name has at most 255 bytes, and a scope no limit: a longer one stands for itself by its hash. */
const longestScope = 120;

/** The name that claims and tombstones of a link bear inside a sandbox; unique over all executions, safe as a file name. */
export function linkName({ execution, scope, seq }: LinkId): string {
  const place = scope.length <= longestScope ? scope.replaceAll("/", "+") : `+${sha256(scope)}`;
  return `${execution}${place}.${seq}`;
}
