import { type Head, headOf } from "../chain/head.ts";
import { spentSince, unlessNothing } from "../chain/spending.ts";
import type { Link, StoredEntry } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { forkBehind, opensFork } from "../protocol/branches.ts";
import { joinedScopes } from "./joined-scopes.ts";

type Reads = Pick<Ports, "chain" | "workflows" | "blobs">;

/** An entry, and what its own node has paid models; absent: nothing. What an execution inside has paid is not its own. */
export interface RunHead {
  head: Head;
  spent?: Spending;
}

/**
 * The heads of all entries of an execution, branches and items among them, no contents: enough to count by. A scope's
 * come in order, a fork's branches behind it; many branches are read a part of them at a time.
 */
export function runHeads(ports: Reads, execution: string): AsyncIterable<RunHead> {
  return headsOfScope(ports, execution, "");
}

async function* headsOfScope(
  ports: Reads,
  execution: string,
  scope: string,
  fork?: Head,
  known?: readonly Link[],
): AsyncGenerator<RunHead> {
  let before = fork;
  for await (const { entry } of known ?? ports.chain.links(execution, scope)) {
    if (!entry) continue;
    const head = headOf(entry);
    const spent = before && paysItself(head) ? unlessNothing(spentSince(before.spent, head.spent)) : undefined;
    yield { head, ...(spent && { spent }) };
    before = head;
    if (opensFork(head)) yield* headsOfBranches(ports, entry);
  }
}

/** A join's spending is that of its branches. */
function paysItself({ node_type, child }: Head): boolean {
  return node_type !== "join" && child === undefined;
}

async function* headsOfBranches(ports: Reads, entry: StoredEntry): AsyncGenerator<RunHead> {
  const fork = await forkBehind(ports, entry);
  if (!fork) return;
  const { head, branches } = fork;
  const joined = await joinedScopes(ports, fork);
  if (!joined) {
    for (const { scope } of branches) yield* headsOfScope(ports, head.execution_id, scope, head);
    return;
  }
  for await (const { part, links } of joined) {
    for (const { scope } of part) yield* headsOfScope(ports, head.execution_id, scope, head, links.get(scope) ?? []);
  }
}
