import { defined, type Member, type Node, onErrorOf, startOf, type Workflow } from "@nova/workflow";
import { contentText, type Head, headOf, type Origin, type Plan } from "../chain/entry.ts";
import { branchOf, isItem } from "../chain/ids.ts";
import {
  type EntryReference,
  type OutcomeDocument,
  type ReuseCondition,
  readOutcomes,
  type WrittenOutcome,
} from "../chain/outcomes.ts";
import { failureOf, inputBefore, type Position, readChanges, readKept, readPosition } from "../chain/position.ts";
import { offloadMembers, savingTo } from "../context/references.ts";
import type { EntryId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import { defaultNext, followChoice, isChosen, type KindPorts, type NodeDefinition, nextNodeId } from "./definition.ts";
import { buildFailure, factsWithoutCode, type Outcome, type RecordedOutcome } from "./outcome.ts";

type Reads = Pick<Ports, "chain" | "blobs">;

/**
 * Finds the outcome that the document of this execution has for a node. Every delivery finds the same outcome. If this
 * function returns null, the node runs.
 */
export async function findRecordedOutcome(ports: KindPorts, position: Position, definition: NodeDefinition) {
  const plan = ports.holdsTurn(definition.node) ? await findPlan(ports, position) : undefined;
  if (!plan) return null;
  const found = await findInDocument(ports, position, plan, definition);
  const outcome = found && buildOutcome(position, definition, found);
  return outcome ?? (position.before.sealed ? refuseToRun(ports, position, plan, definition) : null);
}

async function findPlan({ chain }: Pick<Ports, "chain">, { before, at }: Pick<Position, "before" | "at">) {
  const first = before.visits && (await readKept(chain, { execution: at.execution, scope: "", seq: 0 }));
  return first && headOf(first).plan;
}

/**
 * Builds the outcome of a node from a recorded outcome. Returns null if the version has no edge for the recorded
 * decision.
 */
function buildOutcome({ before }: Position, definition: NodeDefinition, found: RecordedOutcome): Outcome | null {
  const { node, version } = definition;
  const { decision, more } = found;
  const run = { attempt: 1, sandboxId: null, warm: before.warm, code: null };
  const facts = { logs: "", executionTimeMs: 0, run };
  if ("failure" in found) {
    const next = nextNodeId(version, onErrorOf(node));
    return { ...facts, more, status: "failed", class: found.class, failure: found.failure, next };
  }
  const success = { ...facts, status: "success" as const, changes: found.changes };
  if (decision === null)
    return isChosen(definition) ? null : { ...success, decision, more, next: defaultNext(definition, more.calls) };
  const edge = followChoice(definition, decision, before.loops);
  // An outcome that is reused from an earlier entry must take the same edge as that entry. Otherwise the node runs.
  const fits = edge && (edge.decision === decision || !more.reused);
  return fits ? { ...success, ...edge, more: { ...more, ...edge.more } } : null;
}

/** Finds the recorded reply of an agent in the document of places that this execution reuses. It is JSON text. */
export async function findRecordedReply(ports: Reads, position: Position, node: Pick<Node, "id">) {
  const plan = await findPlan(ports, position);
  if (!plan) return undefined;
  const document = await readDocument(ports, position, plan);
  const found = document.at((plan.within ?? "") + (await placeName(ports, position, node)));
  return found && "reply" in found ? found.reply : undefined;
}

async function findInDocument(ports: KindPorts, position: Position, plan: Plan, definition: NodeDefinition) {
  const document = await readDocument(ports, position, plan);
  const found = document.at((plan.within ?? "") + (await placeName(ports, position, definition.node)));
  if (!found) return null;
  return "entry" in found
    ? readReferenced(ports, position, definition, found)
    : readWritten(ports, position, definition, found);
}

function readDocument({ blobs }: Pick<Ports, "blobs">, { before }: Pick<Position, "before">, { outcomes }: Plan) {
  return readOutcomes(blobs, before, outcomes);
}

/**
 * Reads an outcome that a document contains. Returns null for a map that succeeded, because a map always reads its list
 * itself; only the failure of a map can be reused. Also returns null for a reply, because the agent judges its replies.
 */
async function readWritten(
  ports: Reads,
  { before }: Position,
  { node }: NodeDefinition,
  { set, delete: deleted, decision, error, from, reply }: WrittenOutcome,
): Promise<RecordedOutcome | null> {
  if (("items" in node || reply !== undefined) && !error) return null;
  const isLink = from !== undefined && "execution" in from;
  return {
    decision,
    ...(error ?? { changes: { set: await offloadMembers(set, savingTo(ports, before)), delete: deleted } }),
    more: { ...(isLink && { reused: from }), ...(from && !isLink && { edited: from }) },
  };
}

async function readReferenced(
  ports: KindPorts,
  position: Position,
  definition: NodeDefinition,
  { entry: at, condition }: EntryReference,
): Promise<RecordedOutcome | null> {
  const { entry } = await ports.chain.read(at);
  if (!entry) return null;
  const head = headOf(entry);
  const { before } = position;
  const isOfFamily = head.client === before.client && head.root === before.root;
  if (!isOfFamily || head.node_id !== definition.node.id || head.node_type !== definition.node.type) return null;
  if (condition && !(await isUnchanged(ports, position, definition, { at, entry, condition }))) return null;
  // If the entry reused its outcome, the new entry names the execution that first produced the outcome.
  const { child, count, calls, asked, edited, reused_from: reused = { ...at, hash: entry.hash } } = head;
  const kept = (["items", "talk"] as const).map(async (name) => {
    const content = entry.contents[name];
    return content && ([name, await contentText(content, head, ports.blobs)] as const);
  });
  const contents = Object.fromEntries((await Promise.all(kept)).filter((one) => one !== undefined));
  const more = { reused, ...defined({ edited, child, count, calls, asked }), contents };
  const decision = head.decision_result;
  if (head.status === "success") return { decision, more, changes: await readChanges(entry, ports.blobs) };
  const name = head.error_class;
  return name ? { decision, more, class: name, failure: await failureOf(entry, ports.blobs) } : null;
}

/** Whether the inputs in `condition` are the same for the node here as they were for the earlier entry. */
async function isUnchanged(
  ports: KindPorts,
  position: Position,
  definition: NodeDefinition,
  { at, entry, condition }: { at: EntryId; entry: StoredEntry; condition: ReuseCondition },
): Promise<boolean> {
  if (condition === "asked") {
    const asked = await ports.asked(position, definition);
    return asked !== undefined && asked === headOf(entry).asked;
  }
  const earlier = await readPosition(ports, at);
  const [now, then] = await Promise.all([position, earlier].map((one) => inputBefore(ports, one)));
  const keys =
    condition === "context" ? [now, then].flatMap((one) => one?.input.slots().map(({ key }) => key) ?? []) : condition;
  return keys.every((key) => now?.input.slot(key)?.json === then?.input.slot(key)?.json);
}

/**
 * Finds the prefix with which the document names the places inside the execution of a workflow node, such as
 * `billing/`. Returns null if the document has no such place.
 */
export async function findInnerPlaces(ports: Reads, position: Position, plan: Plan, node: Pick<Node, "id">) {
  const inside = `${plan.within ?? ""}${await placeName(ports, position, node)}/`;
  return (await readDocument(ports, position, plan)).hasPlacesIn(inside) ? inside : null;
}

/**
 * Builds the reference to the document of places for the execution that a workflow node runs. Undefined if no place of
 * the document is inside that execution.
 */
export async function buildChildPlan(ports: Reads, position: Position, node: Pick<Node, "id">) {
  const plan = await findPlan(ports, position);
  const within = plan && (await findInnerPlaces(ports, position, plan, node));
  if (!plan || !within) return undefined;
  const source = (await readDocument(ports, position, plan)).at(within);
  const after = source && "entry" in source ? source.entry.execution : undefined;
  return { outcomes: plan.outcomes, within, ...defined({ after }) };
}

/**
 * Reads the values that the earlier nodes of a draft have set, by node id: the start node, and the nodes before the
 * part that runs. The context alone does not say which node set a key.
 */
export async function readDraftPrefix(
  ports: Reads,
  position: Pick<Position, "before" | "at">,
  { draftPrefix, nodes }: Pick<Workflow, "draftPrefix" | "nodes">,
): Promise<ReadonlyMap<string, Member[]>> {
  const plan = draftPrefix && (await findPlan(ports, position));
  if (!plan) return new Map();
  const document: OutcomeDocument = await readDocument(ports, position, plan);
  const start = startOf({ nodes });
  return new Map(
    [...(start ? [start.id] : []), ...draftPrefix.passed].flatMap((id) => {
      const found = document.at(id);
      return !found || "entry" in found || found.error ? [] : [[id, found.set] as const];
    }),
  );
}

/**
 * In a sealed execution, builds the failure of a node that may have effects and has no recorded outcome. Null for other
 * nodes.
 */
async function refuseToRun(ports: KindPorts, position: Position, plan: Plan, definition: NodeDefinition) {
  const { node } = definition;
  if (await ports.staysInside(position, plan, node)) return null;
  const place = (plan.within ?? "") + (await placeName(ports, position, node));
  return buildFailure(definition, `${noOutcome}: ${place}`, factsWithoutCode(ports, undefined, position.before));
}

/** The start of the message of a node that may not run in a sealed execution. */
export const noOutcome = `nothing is on record that fits, and only nodes with "effects": false run here`;

/**
 * Reads the first run, before all restarts that led to this execution, from entry 0. An execution that is its own root
 * is the first run.
 */
export async function originOf({ chain }: Reads, { execution, root }: { execution: string; root: string }) {
  const own = { execution, place: "" };
  if (root === execution) return own;
  const first = await readKept(chain, { execution, scope: "", seq: 0 });
  return (first && headOf(first).origin) ?? own;
}

/**
 * Returns the origin (the first run of all restarts) of the execution that this node runs. The origin is the same in
 * all restarts of the run.
 */
export async function originInside(ports: Reads, position: Position, node: Pick<Node, "id">): Promise<Origin> {
  const { execution, place } = await originAt(ports, position, node);
  return { execution, place: `${place}/` };
}

/**
 * Returns the value of `NOVA_RESTART_KEY` for code. It is the same for this place in a run and in all restarts of the
 * run.
 */
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

/**
 * The length of the longest place in a restart key, because common services take keys of at most 255 characters. A hash
 * replaces a longer place.
 */
const longestPlace = 160;

/**
 * Builds a restart key, in which the place is safe for a header, a file name and the id of a mail: `each[3].book#2` as
 * `each@3+book.2`.
 */
export function restartKeyOf({ execution, place }: Origin): string {
  const written = place.replaceAll("].", "+").replaceAll("[", "@").replaceAll("#", ".").replaceAll("/", "+");
  return `${execution}+${place.length <= longestPlace ? written : sha256(place)}`;
}

/** Returns the name of a node's place, as `Names` in restart/source.ts writes it. */
export async function placeName({ chain }: Pick<Ports, "chain">, { before, at }: Position, { id }: Pick<Node, "id">) {
  return (await prefixOf({ chain }, at)) + nameVisit(id, visitsOf(before, id) + 1);
}

async function prefixOf(ports: Pick<Ports, "chain">, { execution, scope }: Omit<EntryId, "seq">): Promise<string> {
  const place = branchOf(scope);
  if (!place) return "";
  const { parent, fork, seq, branch } = place;
  const around = await prefixOf(ports, { execution, scope: parent });
  if (!isItem(branch)) return around;
  const entry = await readKept(ports.chain, { execution, scope: parent, seq });
  const visit = entry ? visitsOf(headOf(entry), fork) : 1;
  return `${around}${nameVisit(fork, Math.max(1, visit))}[${branch}].`;
}

export function nameVisit(id: string, visit: number): string {
  return visit === 1 ? id : `${id}#${visit}`;
}

type Visits = NonNullable<Head["visits"]>;

function visitsOf({ visits = {} }: Pick<Head, "visits">, id: string): number {
  return visits[id] ?? 0;
}

/**
 * Merges the visits of the branches. The largest count of a node is the right one, because a node is in at most one
 * branch, and every branch continues the counts of its fork.
 */
export function visitsOfBranches(tips: readonly Pick<Head, "visits">[]): Visits {
  const all: Record<string, number> = {};
  for (const { visits = {} } of tips)
    for (const [id, count] of Object.entries(visits)) all[id] = Math.max(all[id] ?? 0, count);
  return all;
}
