import { defined, type Member, type Node, startOf, type Workflow } from "@nova/workflow";
import { contentText } from "../chain/contents.ts";
import { headOf, type Plan } from "../chain/head.ts";
import { inputBefore } from "../chain/item-input.ts";
import {
  type EntryReference,
  type OutcomeDocument,
  type ReuseCondition,
  readOutcomes,
  type WrittenOutcome,
} from "../chain/outcomes.ts";
import { failureOf, type Position, readChanges, readKept, readPosition } from "../chain/position.ts";
import { offloadMembers, savingTo } from "../context/offload.ts";
import type { LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { NodeDefinition } from "./definition.ts";
import { codeless, failed, type Outcome, type RecordedOutcome } from "./outcome.ts";
import { placeName } from "./place-name.ts";
import type { KindPorts } from "./settling.ts";

type Reads = Pick<Ports, "chain" | "blobs">;

/** The outcome that the document has for the node at this position. Null if the node runs. */
export async function findRecorded(
  ports: KindPorts,
  position: Position,
  plan: Plan,
  definition: NodeDefinition,
): Promise<RecordedOutcome | null> {
  const document = await documentOf(ports, position, plan);
  const found = document.at((plan.within ?? "") + (await placeName(ports, position, definition.node)));
  if (!found) return null;
  return "entry" in found
    ? referencedOutcome(ports, position, definition, found)
    : writtenOutcome(ports, position, definition, found);
}

function documentOf({ blobs }: Pick<Ports, "blobs">, { before }: Pick<Position, "before">, { outcomes }: Plan) {
  return readOutcomes(blobs, before, outcomes);
}

/** A map reads its list itself, so only a failure of a map can be written. */
async function writtenOutcome(
  ports: Reads,
  { before }: Position,
  { node }: NodeDefinition,
  { set, delete: deleted, decision, error, from }: WrittenOutcome,
): Promise<RecordedOutcome | null> {
  if ("items" in node && !error) return null;
  const isLink = from !== undefined && "execution" in from;
  return {
    decision,
    ...(error ?? { changes: { set: await offloadMembers(set, savingTo(ports, before)), delete: deleted } }),
    more: { ...(isLink && { reused: from }), ...(from && !isLink && { edited: from }) },
  };
}

/** A restart of a restart names the entry of the first execution that the outcome comes from. */
async function referencedOutcome(
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
  const { child, count, asked, edited, reused_from: reused = { ...at, hash: entry.hash } } = head;
  const { items } = entry.contents;
  const more = {
    reused,
    ...defined({ edited, child, count, asked }),
    ...(items && { contents: { items: await contentText(items, head, ports.blobs) } }),
  };
  const decision = head.decision_result;
  if (head.status === "success") return { decision, more, changes: await readChanges(entry, ports.blobs) };
  const name = head.error_class;
  return name ? { decision, more, class: name, failure: await failureOf(entry, ports.blobs) } : null;
}

/** Whether the node finds here what it found in front of the entry. */
async function isUnchanged(
  ports: KindPorts,
  position: Position,
  definition: NodeDefinition,
  { at, entry, condition }: { at: LinkId; entry: StoredEntry; condition: ReuseCondition },
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

/** The start of the places of the execution that the node of this position runs. Null if the document has none of them. */
export async function placesInside(
  ports: Reads,
  position: Position,
  plan: Plan,
  node: Pick<Node, "id">,
): Promise<string | null> {
  const inside = `${plan.within ?? ""}${await placeName(ports, position, node)}/`;
  return (await documentOf(ports, position, plan)).hasPlacesIn(inside) ? inside : null;
}

/** The plan of the execution that the node of this position runs. Undefined if the document has no place in it. */
export async function planOfChild(ports: Reads, position: Position, node: Pick<Node, "id">): Promise<Plan | undefined> {
  const plan = await planAt(ports, position);
  const within = plan && (await placesInside(ports, position, plan, node));
  if (!plan || !within) return undefined;
  const source = (await documentOf(ports, position, plan)).at(within);
  const after = source && "entry" in source ? source.entry.execution : undefined;
  return { outcomes: plan.outcomes, within, ...defined({ after }) };
}

/** The plan of the execution. Undefined if it reuses no outcomes. */
export async function planAt(
  { chain }: Pick<Ports, "chain">,
  { before, at }: Pick<Position, "before" | "at">,
): Promise<Plan | undefined> {
  const first = before.visits && (await readKept(chain, { execution: at.execution, scope: "", seq: 0 }));
  return first && headOf(first).plan;
}

/**
 * What the nodes in front of a part of a draft have set, by their ids, and what its start was given: this is in the document
 * alone, and the execution begins with what they have left.
 */
export async function givenOutcomes(
  ports: Reads,
  position: Pick<Position, "before" | "at">,
  { draftPrefix, nodes }: Pick<Workflow, "draftPrefix" | "nodes">,
): Promise<ReadonlyMap<string, Member[]>> {
  const plan = draftPrefix && (await planAt(ports, position));
  if (!plan) return new Map();
  const document: OutcomeDocument = await documentOf(ports, position, plan);
  const start = startOf({ nodes });
  return new Map(
    [...(start ? [start.id] : []), ...draftPrefix.passed].flatMap((id) => {
      const found = document.at(id);
      return !found || "entry" in found || found.error ? [] : [[id, found.set] as const];
    }),
  );
}

/** The failure of a node that may not run here: what it would do outside is not on record. Null where it may. */
export async function refusedHere(
  ports: KindPorts,
  position: Position,
  plan: Plan,
  definition: NodeDefinition,
): Promise<Outcome | null> {
  const { node } = definition;
  if (await ports.staysInside(position, plan, node)) return null;
  const place = (plan.within ?? "") + (await placeName(ports, position, node));
  return failed(definition, `${noOutcome}: ${place}`, codeless(ports, undefined, position.before));
}

/** How the message of such a failure begins. */
export const noOutcome = `nothing is on record that fits, and only nodes with "effects": false run here`;
