import { contentText } from "../chain/contents.ts";
import { type BranchTip, headOf } from "../chain/head.ts";
import { unlessErased } from "../chain/unless-erased.ts";
import type { Link } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { OpenFork } from "../protocol/branches.ts";

/** Fewer branches are read one by one: the join would cost as much. */
const fewest = 50;
/** Branches whose entries are in memory at once. */
const mostInPart = 1000;

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
  for (let first = 0; first < branches.length; first += mostInPart) {
    const part = branches.slice(first, first + mostInPart);
    const begun = part.map(({ scope }) => ({ scope, seq: tips.get(scope) ?? 0 }));
    yield { part, links: await chain.entries(head.execution_id, begun) };
  }
}
