import { defined, type Node } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { contentText } from "../chain/contents.ts";
import { type Head, headOf, type ScopePlace, type SourcePlan } from "../chain/head.ts";
import { inputBefore } from "../chain/item-input.ts";
import { contextAfter, failureOf, type Position, readKept, readPosition } from "../chain/position.ts";
import { branchOf } from "../chain/scope.ts";
import { linkLabel } from "../context/context.ts";
import type { ChainStore, LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { NodeDefinition } from "./definition.ts";
import type { RecordedOutcome } from "./outcome.ts";
import type { KindPorts } from "./settling.ts";

type Reads = Pick<Ports, "chain" | "blobs">;

/** What the source of a plan has for a node, at its place. */
export interface Found extends ScopePlace {
  head: Head;
  entry: StoredEntry;
}

/** What the source came to at the node, where that counts. */
export async function outcomeInSource(
  ports: KindPorts,
  position: Position,
  plan: SourcePlan,
  definition: NodeDefinition,
): Promise<RecordedOutcome | null> {
  const { followed } = position.before;
  const found = followed && (await findInSource(ports, plan.source, followed, definition.node));
  if (!found) return null;
  const isTolerated = await wentOnWithout(found.head, async (at) => {
    const link = await readKept(ports.chain, { execution: plan.source, ...at });
    return link && headOf(link);
  });
  if (!counts(plan, found.head, isTolerated)) return null;
  const keys = plan.unchanged?.[definition.node.id];
  if (keys === "asked") {
    const asked = await ports.asked(position, definition);
    if (asked === undefined || asked !== found.head.asked) return null;
  } else if (plan.unchanged && !(await findsTheSame(ports, position, found, keys))) return null;
  const { head, entry, scope, seq } = found;
  const { execution_id: execution, child, count, asked } = head;
  const reused = head.reused_from ?? { execution, scope, seq, hash: entry.hash };
  const { items } = entry.contents;
  const more = {
    reused,
    followed: { scope, seq },
    ...defined({ edited: head.edited, child, count, asked }),
    ...(items && { contents: { items: await contentText(items, head, ports.blobs) } }),
  };
  const decision = head.decision_result;
  if (head.status === "success") return { decision, more, changes: await changesOf(ports, entry) };
  const name = head.error_class;
  return name ? { decision, more, isTolerated, class: name, failure: await failureOf(entry, ports.blobs) } : null;
}

/**
 * Whether an entry of the source counts, by its place and by what it came to. Where nobody says what is to run again, all
 * that failed for good does, also what its run went on without (`isTolerated`).
 */
export function counts({ from = [], again = [] }: SourcePlan, head: Head, isTolerated: boolean): boolean {
  const isSettled = head.status === "success" || head.path_taken !== null;
  const isAsked = from.length > 0 || again.length > 0;
  return (
    (isSettled || (isAsked && isTolerated)) &&
    !again.includes(head.node_id) &&
    from.every((place) => isBefore(head, place))
  );
}

/** Whether this was the end of an item, or of a part of one, and its map tolerates that. `read`: the head at a link. */
export async function wentOnWithout(
  { scope, status, path_taken }: Head,
  read: (at: ScopePlace) => Promise<Head | undefined> | Head | undefined,
): Promise<boolean> {
  const fork = branchOf(scope);
  if (!fork || status === "success" || path_taken !== null) return false;
  const join = await read({ scope: fork.parent, seq: fork.seq + 1 });
  return join !== undefined && (join.status === "success" || wentOnWithout(join, read));
}

/** Whether a node finds the values that it found in the source under these keys, or under all. */
async function findsTheSame(
  ports: Ports,
  position: Position,
  { head: { execution_id: execution }, scope, seq }: Found,
  keys: string[] | null | undefined,
): Promise<boolean> {
  if (keys === undefined) return false;
  const before = await readPosition(ports, { execution, scope, seq });
  const [own, other] = await Promise.all([position, before].map((place) => inputBefore(ports, place)));
  const looked = keys ?? [own, other].flatMap((found) => found?.input.slots().map(({ key }) => key) ?? []);
  return looked.every((key) => own?.input.slot(key)?.json === other?.input.slot(key)?.json);
}

/** Whether a link ran before another one, or beside it in another branch: it does not depend on it. */
function isBefore(link: ScopePlace, place: ScopePlace): boolean {
  const [own, other] = [stepsOf(link), stepsOf(place)];
  const apart = own.findIndex((step, depth) => step.way !== other[depth]?.way);
  const depth = apart < 0 ? own.length - 1 : apart;
  const [mine, theirs] = [own[depth], other[depth]];
  if (!mine || !theirs) return true;
  // Another branch of the same fork, or a link that the other one is inside of.
  if (mine.seq === theirs.seq) return mine.way !== theirs.way && theirs.way !== "";
  return mine.seq < theirs.seq;
}

/** The numbers of the forks around a link and its own, outermost first, each with the branch that it leads into. */
function stepsOf({ scope, seq }: ScopePlace): { seq: number; way: string }[] {
  const forks = Array.from(scope.matchAll(/\/([^/@]+)@(\d+)\.([^/.]+)/g), ([way, , number]) => ({
    seq: Number(number),
    way,
  }));
  return [...forks, { seq, way: "" }];
}

/** What an entry set and deleted. */
export async function changesOf({ blobs }: Pick<Reads, "blobs">, entry: StoredEntry) {
  const { context, stored } = await contextAfter(entry, blobs);
  return {
    set: context.writtenBy(linkLabel(headOf(entry))).map(({ key, json }) => ({ key, json })),
    delete: stored.deleted,
  };
}

/**
 * How far a scope has followed the source behind a node that ran: as far as before where the node is new and the source
 * went on without it; else not at all, since what the source did next came of another outcome, unless the values say what
 * counts.
 */
export async function followedBehind(
  ports: Reads,
  { before: { followed } }: Position,
  { source, unchanged }: SourcePlan,
  node: Pick<Node, "id">,
): Promise<ScopePlace | undefined> {
  if (!followed) return undefined;
  const found = await findInSource(ports, source, followed, node);
  if (found) return unchanged && { scope: found.scope, seq: found.seq };
  const goesOn = async () => (await ports.chain.read(linkBehind(source, followed))).entry !== undefined;
  return unchanged || (await goesOn()) ? followed : undefined;
}

function linkBehind(execution: string, { scope, seq }: ScopePlace): LinkId {
  return { execution, scope, seq: seq + 1 };
}

/** The node's next visit in the source, behind the place that a scope has followed it to. */
export async function findInSource(
  { chain }: Pick<Reads, "chain">,
  source: string,
  place: ScopePlace,
  node: Pick<Node, "id">,
): Promise<Found | undefined> {
  const { scope, seq } = place;
  const nearest = (await chain.read(linkBehind(source, place))).entry;
  const head = nearest && headOf(nearest);
  if (nearest && head?.node_id === node.id) return { scope, seq: seq + 1, head, entry: nearest };
  if (!nearest) return undefined;
  const further = (await placesIn(chain, source, scope)).find((one) => one.seq > seq && one.node === node.id);
  const entry = further && (await chain.read({ execution: source, scope, seq: further.seq })).entry;
  return entry && further && { scope, seq: further.seq, head: headOf(entry), entry };
}

type NodePlace = { seq: number; node: string };

/** Nodes of scopes of sources, which have ended: kept in a warm Lambda for versions that have other nodes. */
const places = new WeakMap<ChainStore, LRUCache<string, NodePlace[]>>();

async function placesIn(chain: ChainStore, execution: string, scope: string): Promise<NodePlace[]> {
  const known = places.get(chain) ?? new LRUCache<string, NodePlace[]>({ max: 100 });
  places.set(chain, known);
  const name = execution + scope;
  const there = known.get(name);
  if (there) return there;
  const read: NodePlace[] = [];
  for await (const { seq, entry } of chain.links(execution, scope))
    if (entry) read.push({ seq, node: headOf(entry).node_id });
  known.set(name, read);
  return read;
}
