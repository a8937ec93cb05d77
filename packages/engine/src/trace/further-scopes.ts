import { headOf } from "../chain/head.ts";
import { branchScope } from "../chain/scope.ts";
import type { LinkId, StoredEntry } from "../ports/chain.ts";

/**
 * What an entry leads to that is not stored beside it: the items of a map, and the execution that its node ran. Its head
 * alone says so, whatever of its contents was erased.
 */
export function furtherScopes(entry: StoredEntry): Omit<LinkId, "seq">[] {
  const head = headOf(entry);
  const items = Array.from({ length: head.count ?? 0 }, (_, index) => ({
    execution: head.execution_id,
    scope: branchScope(head, head.node_id, String(index)),
  }));
  return head.child ? [...items, { execution: head.child.execution, scope: "" }] : items;
}
