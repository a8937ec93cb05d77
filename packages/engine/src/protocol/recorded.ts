import { conditionLabel, defaultLabel, defined, type Node } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { contentText } from "../chain/contents.ts";
import { type Head, headOf, type Plan, type ScopePlace } from "../chain/head.ts";
import { inputBefore } from "../chain/item-input.ts";
import { contextAfter, failureOf, type Position, readKept, readPosition } from "../chain/position.ts";
import { linkLabel } from "../context/context.ts";
import { chainBroken } from "../errors.ts";
import type { ChainStore, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { type NodeDefinition, type TakenEdge, takeEdge, wayOn, wayTo } from "./definition.ts";
import type { MoreFacts, Outcome } from "./outcome.ts";
import type { KindPorts } from "./settling.ts";

type Reads = Pick<Ports, "chain" | "blobs">;

/** The ports, and what a text node would ask now, where its kind can say it. */
export type RecordedPorts = Ports & Partial<Pick<KindPorts, "asked">>;

/** What the source of a plan has for a node, at its place. */
export interface Found extends ScopePlace {
  head: Head;
  entry: StoredEntry;
}

/**
 * The outcome that the source of this execution's plan came to, for a node that has no entry: what it set, decided or
 * failed with, as it is on record. Null where the node is to run. It is the same for everybody who asks.
 */
export async function recordedOutcome(
  ports: RecordedPorts,
  position: Position,
  definition: NodeDefinition,
): Promise<Outcome | null> {
  const { before, at } = position;
  if (!before.followed || definition.node.type === "end") return null;
  const plan = await planOf(ports, at.execution);
  const found = await findInSource(ports, plan.source, before.followed, definition.node);
  if (!found || !counts(plan, found.head)) return null;
  const keys = plan.unchanged?.[definition.node.id];
  if (keys === "asked") {
    const asked = await ports.asked?.(position, definition);
    if (asked === undefined || asked !== found.head.asked) return null;
  } else if (plan.unchanged && !(await findsTheSame(ports, position, found, keys))) return null;
  return outcomeFrom(ports, position, definition, found);
}

/** Whether an entry of the source counts, by its place and by what it came to. */
export function counts({ from = [], again = [] }: Plan, head: Head): boolean {
  const isSettled = head.status === "success" || head.path_taken !== null;
  return isSettled && !again.includes(head.node_id) && from.every((place) => isBefore(head, place));
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

async function outcomeFrom(
  ports: Reads,
  { before }: Position,
  definition: NodeDefinition,
  { head, entry, scope, seq }: Found,
): Promise<Outcome | null> {
  const { node, version } = definition;
  const { execution_id: execution, child, count, asked } = head;
  const reused = head.reused_from ?? { execution, scope, seq, hash: entry.hash };
  const { items } = entry.contents;
  const more: MoreFacts = {
    reused,
    followed: { scope, seq },
    ...defined({ child, count, asked }),
    ...(items && { contents: { items: await contentText(items, head, ports.blobs) } }),
  };
  const run = { attempt: 1, sandboxId: null, warm: before.warm, code: null };
  const facts = { logs: "", executionTimeMs: 0, run };
  if (head.status === "failed") {
    const next = wayTo(version, "onError" in node ? node.onError : undefined);
    if (next === null || head.error_class === undefined) return null;
    const failure = await failureOf(entry, ports.blobs);
    return { ...facts, more, status: "failed", class: head.error_class, failure, next };
  }
  const changes = await changesOf(ports, head, entry);
  const success = { ...facts, status: "success" as const, changes, decision: null };
  const label = head.decision_result;
  if (label === null) return { ...success, more, next: wayOn(definition) };
  const taken = edgeTaken(definition, label, before.loops);
  if (!taken) return null;
  const { to, loops } = taken;
  return { ...success, more: { ...more, ...defined({ loops }) }, decision: label, next: wayTo(version, to) };
}

/** The edge of this version for what a decision, or a person, has once chosen. */
export function edgeTaken(definition: NodeDefinition, label: string, loops?: Head["loops"]): TakenEdge | undefined {
  const leads = (wanted: string) => definition.edges.find(({ condition }) => conditionLabel(condition) === wanted);
  const edge = leads(label) ?? (definition.node.type === "decision" ? undefined : leads(defaultLabel));
  const taken = edge && takeEdge(definition, edge, loops);
  return taken && "to" in taken ? taken : undefined;
}

/** What an entry set and deleted. */
async function changesOf({ blobs }: Pick<Reads, "blobs">, head: Head, entry: StoredEntry) {
  const { context, stored } = await contextAfter(entry, blobs);
  return { set: context.writtenBy(linkLabel(head)).map(({ key, json }) => ({ key, json })), delete: stored.deleted };
}

/**
 * How far a scope has followed the source behind a node that ran: as far as before where the source never came to the
 * node, which is new; else not at all, since what the source did next came of another outcome, unless the values say
 * what counts.
 */
export async function stillFollowed(
  ports: Reads,
  { before, at }: Position,
  node: Pick<Node, "id">,
): Promise<ScopePlace | undefined> {
  if (!before.followed) return undefined;
  const plan = await planOf(ports, at.execution);
  const found = await findInSource(ports, plan.source, before.followed, node);
  if (!found) return before.followed;
  return plan.unchanged && { scope: found.scope, seq: found.seq };
}

/** Of an execution that has one. */
export async function planOf({ chain }: Pick<Reads, "chain">, execution: string): Promise<Plan> {
  const first = await readKept(chain, { execution, scope: "", seq: 0 });
  const plan = first && headOf(first).plan;
  if (!plan) throw chainBroken(`execution ${execution} follows an earlier one and has no plan`);
  return plan;
}

/** The node's next visit in the source, behind the place that a scope has followed it to. */
export async function findInSource(
  { chain }: Pick<Reads, "chain">,
  source: string,
  { scope, seq }: ScopePlace,
  node: Pick<Node, "id">,
): Promise<Found | undefined> {
  const nearest = (await chain.read({ execution: source, scope, seq: seq + 1 })).entry;
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
