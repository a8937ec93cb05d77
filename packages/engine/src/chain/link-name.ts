import type { LinkId } from "../ports/chain.ts";

/** The name that claims and tombstones of a link bear inside a sandbox; unique over all executions, safe as a file name. */
export function linkName({ execution, scope, seq }: LinkId): string {
  return `${execution}${scope.replaceAll("/", "+")}.${seq}`;
}
