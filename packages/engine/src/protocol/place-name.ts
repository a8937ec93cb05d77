import type { Node } from "@nova/workflow";
import { type Head, headOf, type Origin } from "../chain/head.ts";
import { type Position, readKept } from "../chain/position.ts";
import { branchOf, isItem } from "../chain/scope.ts";
import type { LinkId } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";

type Reads = Pick<Ports, "chain">;

/** Reads from link 0 the first run of all restarts of this execution. An execution that is its own root is that run. */
export async function originOf(
  { chain }: Reads,
  { execution, root }: { execution: string; root: string },
): Promise<Origin> {
  const own = { execution, place: "" };
  if (root === execution) return own;
  const first = await readKept(chain, { execution, scope: "", seq: 0 });
  return (first && headOf(first).origin) ?? own;
}

/** The origin of the execution that the node of this position runs. It is the same in all restarts of the caller. */
export async function originInside(ports: Reads, position: Position, node: Pick<Node, "id">): Promise<Origin> {
  const { execution, place } = await originAt(ports, position, node);
  return { execution, place: `${place}/` };
}

/** The value of `NOVA_RESTART_KEY` for code: the same for this place in a run and in all its restarts. */
export async function restartKey(ports: Reads, position: Position, node: Pick<Node, "id">): Promise<string> {
  return restartKeyOf(await originAt(ports, position, node));
}

async function originAt(ports: Reads, position: Position, node: Pick<Node, "id">): Promise<Origin> {
  const { at, before } = position;
  const [origin, place] = await Promise.all([
    originOf(ports, { execution: at.execution, root: before.root }),
    placeName(ports, position, node),
  ]);
  return { ...origin, place: origin.place + place };
}

/** Common services take keys of at most 255 characters. The hash replaces a longer place. */
const longestPlace = 160;

/** Writes a place so that it is safe in a header, a file name and the id of a mail: `each[3].book#2` as `each@3+book.2`. */
export function restartKeyOf({ execution, place }: Origin): string {
  const written = place.replaceAll("].", "+").replaceAll("[", "@").replaceAll("#", ".").replaceAll("/", "+");
  return `${execution}+${place.length <= longestPlace ? written : sha256(place)}`;
}

/** The name of a node's place, equal to the name that `Names` gives to it. */
export async function placeName({ chain }: Reads, { before, at }: Position, { id }: Pick<Node, "id">): Promise<string> {
  return (await prefixOf({ chain }, at)) + numbered(id, visitsOf(before, id) + 1);
}

async function prefixOf(ports: Reads, { execution, scope }: Omit<LinkId, "seq">): Promise<string> {
  const place = branchOf(scope);
  if (!place) return "";
  const { parent, fork, seq, branch } = place;
  const around = await prefixOf(ports, { execution, scope: parent });
  if (!isItem(branch)) return around;
  const entry = await readKept(ports.chain, { execution, scope: parent, seq });
  const visit = entry ? visitsOf(headOf(entry), fork) : 1;
  return `${around}${numbered(fork, Math.max(1, visit))}[${branch}].`;
}

export function numbered(id: string, visit: number): string {
  return visit === 1 ? id : `${id}#${visit}`;
}

type Visits = NonNullable<Head["visits"]>;

function visitsOf({ visits = {} }: Pick<Head, "visits">, id: string): number {
  return visits[id] ?? 0;
}

/** The visits after a join. A node is in at most one branch, and every branch continues the counts of its fork. */
export function visitsOfBranches(tips: readonly Pick<Head, "visits">[]): Visits {
  const all: Record<string, number> = {};
  for (const { visits = {} } of tips)
    for (const [id, count] of Object.entries(visits)) all[id] = Math.max(all[id] ?? 0, count);
  return all;
}
