import { contentText, unlessErased } from "../chain/contents.ts";
import { type BranchTip, type Head, headOf } from "../chain/head.ts";
import { spentSince, unlessNothing } from "../chain/spending.ts";
import type { Link, StoredEntry } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { forkBehind, type OpenFork, opensFork } from "../protocol/branches.ts";

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

/** Fewer branches are read one by one: the join would cost as much. */
const fewest = 50;
/** Branches whose entries are in memory at once. */
const maxInPart = 1000;

interface Part {
  part: OpenFork["branches"];
  /** By scope. */
  links: ReadonlyMap<string, Link[]>;
}

/**
 * The entries of a fork's many branches, a part of them at a time: their join says how far each has come, so that a
 * hundred are read at once. Null where there is no join that says it; then each branch has to be asked for.
 */
export async function joinedScopes(
  ports: Pick<Ports, "chain" | "blobs">,
  { head, branches }: OpenFork,
): Promise<AsyncIterable<Part> | null> {
  if (branches.length < fewest) return null;
  const { entry } = await ports.chain.read({ execution: head.execution_id, scope: head.scope, seq: head.seq + 1 });
  const content = entry?.contents.branches;
  const text = entry && content && (await unlessErased(() => contentText(content, headOf(entry), ports.blobs)));
  if (!text) return null;
  const tips = new Map((JSON.parse(text) as BranchTip[]).map(({ scope, seq }) => [scope, seq]));
  return partsOf(ports, { head, branches }, tips);
}

async function* partsOf(
  { chain }: Pick<Ports, "chain">,
  { head, branches }: Pick<OpenFork, "head" | "branches">,
  tips: ReadonlyMap<string, number>,
): AsyncIterable<Part> {
  for (let first = 0; first < branches.length; first += maxInPart) {
    const part = branches.slice(first, first + maxInPart);
    const begun = part.map(({ scope }) => ({ scope, seq: tips.get(scope) ?? 0 }));
    yield { part, links: await chain.entries(head.execution_id, begun) };
  }
}
